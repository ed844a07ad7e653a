"""What another queue manager that hosts a queue would need, there and elsewhere.

Source: Hughson's deck, "Routing Into and Out of clusters", scenarios 1 to 5.
"""
