"""The stages of a refresh, one per file. A stage has the name of its file.

`stages_of` lists those of a plan and an action; `run_stages` walks them, and so does explain.
"""
