CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL, region text, parent int);
CREATE TABLE products (id int PRIMARY KEY, sku text UNIQUE NOT NULL, label text UNIQUE, price numeric(10,2));
CREATE TABLE orders (
    id int PRIMARY KEY, customer int REFERENCES customers, product int NOT NULL,
    placed date, amount numeric(10,2), note text
);
CREATE TABLE returns (order_id int, reason text, amount numeric(10,2));
CREATE INDEX ON orders (customer);
CREATE INDEX ON orders (product);
CREATE INDEX ON returns (order_id);
CREATE INDEX ON customers (parent);
