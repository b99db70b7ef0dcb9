"""Imported last by the process that forks the workers: what is loaded by then is shared with them.

The collector would write to every object that it looks at, and so give each worker a copy.
"""

import gc

gc.collect()
gc.freeze()
