"""The commands as users say them: names, options and help texts. Imports nothing heavy."""
