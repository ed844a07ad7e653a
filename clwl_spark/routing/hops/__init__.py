"""All messages of a lake followed hop by hop; each hop is routed like the first put."""
