-- A tool rental: customers and stores have addresses, staff have a store and a boss, payments name
-- rental, customer and staff. Many words have two ways to go.
CREATE TABLE addresses (address_id INTEGER PRIMARY KEY, street VARCHAR(40), city VARCHAR(20), country VARCHAR(20));
CREATE TABLE stores (store_id INTEGER PRIMARY KEY, store_name VARCHAR(30), address_id INTEGER REFERENCES addresses, manager_id INTEGER REFERENCES staff);
CREATE TABLE staff (staff_id INTEGER PRIMARY KEY, first_name VARCHAR(20), last_name VARCHAR(20), store_id INTEGER REFERENCES stores, boss_id INTEGER REFERENCES staff, salary INTEGER, hire_date DATE);
CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, first_name VARCHAR(20), last_name VARCHAR(20), email VARCHAR(40), address_id INTEGER REFERENCES addresses, store_id INTEGER REFERENCES stores, active BOOLEAN, joined_date DATE);
CREATE TABLE categories (category_id INTEGER PRIMARY KEY, category_name VARCHAR(20));
CREATE TABLE tools (tool_id INTEGER PRIMARY KEY, tool_name VARCHAR(30), maker VARCHAR(20), category_id INTEGER REFERENCES categories, daily_rate DECIMAL(8, 2), weight_kg DECIMAL(6, 2), discontinued BOOLEAN);
CREATE TABLE rentals (rental_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers, tool_id INTEGER REFERENCES tools, staff_id INTEGER REFERENCES staff, rental_date DATE, return_date DATE, fee DECIMAL(8, 2));
CREATE TABLE payments (payment_id INTEGER PRIMARY KEY, rental_id INTEGER REFERENCES rentals, customer_id INTEGER REFERENCES customers, staff_id INTEGER REFERENCES staff, amount DECIMAL(8, 2), payment_date DATE);
INSERT INTO addresses VALUES (1, '1 Rue A', 'Lyon', 'France'), (2, '2 Rue B', 'Nantes', 'France'), (3, '3 High St', 'Leeds', 'UK'), (4, '4 Low St', 'York', 'UK'), (5, '5 Ring', 'Graz', 'Austria'), (6, '6 Rue C', 'Lyon', 'France');
INSERT INTO stores VALUES (1, 'North', 3, 1), (2, 'South', 1, 3);
INSERT INTO staff VALUES (1, 'Ada', 'Bell', 1, NULL, 4000, '2015-02-01'), (2, 'Ben', 'Cole', 1, 1, 3000, '2018-05-01'), (3, 'Cleo', 'Dunn', 2, 1, 3500, '2019-07-01'), (4, 'Dov', 'Eden', 2, 3, 2500, '2021-09-01'), (5, 'Elin', 'Falk', 1, 1, 2800, '2021-10-01');
INSERT INTO customers VALUES (1, 'Gus', 'Hart', 'gus@x.example', 1, 1, 1, '2020-01-05'), (2, 'Hana', 'Ito', 'hana@x.example', 3, 1, 1, '2020-06-06'), (3, 'Ivo', 'Lyon', NULL, 4, 2, 0, '2021-03-03'), (4, 'Jana', 'Kos', 'jana@x.example', 5, 2, 1, '2022-08-08'), (5, 'Kit', 'Lamb', NULL, 6, 2, 1, '2023-01-01');
INSERT INTO categories VALUES (1, 'Drills'), (2, 'Saws'), (3, 'Garden'), (4, 'Ladders');
INSERT INTO tools VALUES (1, 'Hammer Drill', 'Borex', 1, 12.00, 3.50, 0), (2, 'Corded Drill', 'Makon', 1, 8.00, 2.00, 0), (3, 'Chain Saw', 'Borex', 2, 20.00, 6.00, 0), (4, 'Garden', 'Makon', 3, 5.00, 9.50, 1), (5, 'Hedge Trimmer', 'Lyon', 3, 10.00, 4.00, 0), (6, 'Jig Saw', 'Makon', 2, 7.50, 2.50, 0);
INSERT INTO rentals VALUES (1, 1, 1, 1, '2022-01-10', '2022-01-12', 24.00), (2, 1, 3, 2, '2022-03-01', '2022-03-02', 20.00), (3, 2, 1, 2, '2022-05-05', '2022-05-09', 48.00), (4, 2, 2, 2, '2023-02-02', '2023-02-03', 8.00), (5, 3, 5, 3, '2023-04-04', '2023-04-10', 60.00), (6, 3, 1, 4, '2023-06-06', NULL, 36.00), (7, 4, 3, 4, '2023-07-07', '2023-07-08', 20.00), (8, 1, 5, 3, '2023-09-09', NULL, 10.00), (9, 2, 6, 1, '2023-12-31', '2024-01-02', 15.00);
INSERT INTO payments VALUES (1, 1, 1, 1, 24.00, '2022-01-12'), (2, 2, 1, 2, 20.00, '2022-03-05'), (3, 3, 2, 2, 48.00, '2022-05-09'), (4, 4, 2, 4, 8.00, '2023-02-03'), (5, 5, 3, 3, 30.00, '2023-04-10'), (6, 5, 3, 4, 30.00, '2023-05-10'), (7, 7, 4, 4, 20.00, '2023-07-08');
