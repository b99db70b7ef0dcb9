-- An aquarium: keepers with a manager, tanks, animals, feedings and tickets; made after the grammar.
CREATE TABLE tank (tank_id INTEGER PRIMARY KEY, tank_name VARCHAR(20), volume_liters INTEGER, is_saltwater BOOLEAN, hall VARCHAR(10));
CREATE TABLE keeper (keeper_id INTEGER PRIMARY KEY, first_name VARCHAR(20), last_name VARCHAR(20), hire_date DATE, salary INTEGER, manager_id INTEGER REFERENCES keeper(keeper_id));
CREATE TABLE animal (animal_id INTEGER PRIMARY KEY, name VARCHAR(20), species VARCHAR(20), tank_id INTEGER REFERENCES tank(tank_id), weight_kg DECIMAL(6,2), arrival_date DATE, origin_country VARCHAR(20));
CREATE TABLE feeding (feeding_id INTEGER PRIMARY KEY, animal_id INTEGER REFERENCES animal(animal_id), keeper_id INTEGER REFERENCES keeper(keeper_id), feeding_date DATE, amount_grams INTEGER);
CREATE TABLE visitor (visitor_id INTEGER PRIMARY KEY, name VARCHAR(20), city VARCHAR(20));
CREATE TABLE ticket (ticket_id INTEGER PRIMARY KEY, visitor_id INTEGER REFERENCES visitor(visitor_id), price DECIMAL(6,2), purchase_date DATE, used BOOLEAN);
INSERT INTO tank VALUES (1,'Reef',5000,1,'A'),(2,'Lagoon',12000,1,'B'),(3,'Brook',800,0,'A'),(4,'Quarantine',300,0,'C');
INSERT INTO keeper VALUES (1,'Ola','Berg','2012-05-01',3800,NULL),(2,'Mia','Sato','2018-09-01',3100,1),(3,'Jon','Reyes','2021-02-01',2900,1);
INSERT INTO animal VALUES (1,'Finn','Shark',2,80.5,'2019-03-01','Japan'),(2,'Pearl','Ray',2,25,'2020-07-01','Australia'),(3,'Dot','Clownfish',1,0.2,'2022-01-05','Australia'),(4,'Dash','Clownfish',1,0.25,'2022-01-05',NULL),(5,'Moss','Turtle',3,6,'2021-11-11','Brazil');
INSERT INTO feeding VALUES (1,1,1,'2023-01-01',900),(2,1,2,'2023-02-01',1100),(3,2,2,'2023-02-02',500),(4,3,2,'2024-01-01',10),(5,5,1,'2024-03-03',60),(6,1,1,'2024-05-05',1000);
INSERT INTO visitor VALUES (1,'Ann','Oslo'),(2,'Ben','Rome'),(3,'Cho','Oslo');
INSERT INTO ticket VALUES (1,1,20,'2023-06-01',1),(2,1,22.5,'2024-06-01',0),(3,2,20,'2024-07-01',1);
