"""Random stream tables: a scenario is data, made from one number, and can be written as a script.

Expressions are pieces of SQL with a type. `bound` (the largest absolute value; of text, the
length) and `scale` (the decimals) keep them where PostgreSQL itself raises no error and Spark
holds every digit. What depends on an order has a total one, so that each query has one answer.
"""
