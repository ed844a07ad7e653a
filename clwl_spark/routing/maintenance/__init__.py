"""The lake's tables as files: made empty, compacted, and rid of what nobody needs any more."""
