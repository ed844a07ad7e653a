"""Where files are: folders of this machine and object stores, behind one small set of functions.

Nothing else in the package asks which of the two it is, but to say what it cannot do there.
"""
