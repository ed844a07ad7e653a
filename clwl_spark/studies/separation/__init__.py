"""Which queues share a channel or a transmission queue, so that messages of one hold up the other.

`alike` says what has to be planned, `ways` plans it, `sharing` counts and names, `separation`
answers for a lake, `rendering` shows it; `apart` follows two puts for `clwl assert`.
"""
