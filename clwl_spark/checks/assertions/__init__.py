"""Facts that a cluster must keep, for the CI of an MQ configuration. No Spark here.

A file of facts (`files`) is parsed by `grammar.lark` into values (`model`); `judge` asks whoever
answers (`answers.Answers`) once for all of them; what comes of it is told as a table, as JSON
(`results`, `rendering`) and as JUnit XML (`junit`).
"""
