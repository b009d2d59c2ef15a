"""The calculus: operator trees over Z-sets, their delta rules, and restriction by key. Pure."""
