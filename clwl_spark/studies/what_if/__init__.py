"""What would happen: the same traffic routed on a topology and on a changed one.

A change is said in MQSC words; it becomes a text, and the text becomes rows as `clwl ingest --base`
would make them, so a what-if is what ingesting the change and routing would give.
"""
