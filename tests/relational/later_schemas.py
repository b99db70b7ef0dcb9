"""Two databases made after the grammar was fixed: a ferry line and a repair shop, in SQLite.

What stands beside the questions was worked out by hand; `None` must be refused. A sailing has two
keys to ports, and captains name their chief: words and values have more than one way.
"""

FERRY = """
CREATE TABLE port (port_id INTEGER PRIMARY KEY, port_name VARCHAR(30), country VARCHAR(20));
CREATE TABLE vessel (vessel_id INTEGER PRIMARY KEY, vessel_name VARCHAR(30), built_year INTEGER,
    capacity INTEGER, home_port_id INTEGER REFERENCES port);
CREATE TABLE captain (captain_id INTEGER PRIMARY KEY, first_name VARCHAR(20),
    last_name VARCHAR(20), hire_date DATE, chief_id INTEGER REFERENCES captain);
CREATE TABLE sailing (sailing_id INTEGER PRIMARY KEY, vessel_id INTEGER REFERENCES vessel,
    captain_id INTEGER REFERENCES captain, departure_port_id INTEGER REFERENCES port,
    arrival_port_id INTEGER REFERENCES port, sailing_date DATE, cancelled BOOLEAN);
CREATE TABLE booking (booking_id INTEGER PRIMARY KEY, sailing_id INTEGER REFERENCES sailing,
    passenger_name VARCHAR(30), passengers INTEGER, fare DECIMAL(8, 2), booking_date DATE);
INSERT INTO port VALUES (1, 'Bergen', 'Norway'), (2, 'Aberdeen', 'UK'), (3, 'Oslo', 'Norway');
INSERT INTO vessel VALUES (1, 'Sea Otter', 1999, 300, 1), (2, 'Petrel', 2010, 120, 2),
    (3, 'Gannet', 2015, 80, 1);
INSERT INTO captain VALUES (1, 'Ida', 'Moen', '2010-03-01', NULL),
    (2, 'Rob', 'Hay', '2015-06-01', 1), (3, 'Sun', 'Kim', '2020-01-10', 1);
INSERT INTO sailing VALUES (1, 1, 1, 1, 2, '2023-05-01', 0), (2, 1, 2, 2, 1, '2023-05-03', 0),
    (3, 2, 2, 3, 2, '2024-01-09', 1), (4, 2, 1, 1, 3, '2024-02-02', 0);
INSERT INTO booking VALUES (1, 1, 'Ann Lee', 2, 80.00, '2023-04-01'), (2, 1, 'Bo Ek', 1, 40.00,
    '2023-04-20'), (3, 2, 'Ann Lee', 2, 70.50, '2023-05-02'), (4, 4, 'Cy Orr', 4, 200.00,
    '2024-01-15');
"""
FERRY_QUESTIONS = [
    ("How many vessels are there?", "3"),
    ("How many sailings were there in 2023?", "2"),
    ("How many captains were hired after 2014?", "2"),
    ("How many ports are in Norway?", "2"),
    ("What is the total fare of bookings?", "390.5"),
    ("What is the average capacity of vessels?", "166.67"),
    ("Which vessel has the highest capacity?", "Sea Otter, 300"),
    ("Which captain has the most sailings?", "Ida Moen, 2; Rob Hay, 2"),
    ("How many sailings does each vessel have?", "Gannet, 0; Petrel, 2; Sea Otter, 2"),
    ("How many vessels have no sailings?", "1"),
    ("How many sailings were cancelled?", "1"),
    ("How many sailings were not cancelled?", "3"),
    ("How many bookings have a fare of more than 70?", "3"),
    ("How many bookings by year?", "2023, 3; 2024, 1"),
    ("Total fare by vessel", "Petrel, 200; Sea Otter, 190.5"),
    ("How many captains have Ida Moen as chief?", "2"),
    ("How many sailings departed from Bergen?", None),
    ("How many sailings are there with departure port Bergen?", "2"),
    ("How many sailings are there with arrival port Aberdeen?", "2"),
    ("How many sailings are there to Bergen?", None),
    ("How many sailings are there by port?", None),
    # One by either port.
    ("How many sailings from Norway in 2023?", "1"),
    ("How many passengers were there in 2023?", None),
    ("How many happy captains are there?", None),
    ("How many vessels are called Petrel?", "1"),
    ("Which vessels have no sailings?", "Gannet"),
    ("How many vessels have at least two sailings?", "2"),
    ("How many captains have not sailed?", "1"),
    ("What percentage of sailings were cancelled?", "25"),
    ("How many bookings and sailings are there?", None),
    ("How many vessels were built in 2010?", None),
    ("How many ports are in the UK or Norway?", "3"),
    ("How many ports are not in the UK?", "2"),
    ("What is the highest fare?", "200"),
    ("선박은 몇 척인가요?", None),
    ("2023년 예약은 몇 건인가요?", "3"),
    ("노르웨이 항구는 몇 곳인가요?", "2"),
]
REPAIR = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(30), city VARCHAR(20));
CREATE TABLE device (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer,
    model VARCHAR(30), purchase_date DATE, weight_kg DECIMAL(6, 2));
CREATE TABLE technician (id INTEGER PRIMARY KEY, name VARCHAR(30), city VARCHAR(20),
    salary INTEGER);
CREATE TABLE ticket (id INTEGER PRIMARY KEY, device_id INTEGER REFERENCES device,
    technician_id INTEGER REFERENCES technician, opened_date DATE, closed_date DATE,
    status VARCHAR(12), duration_minutes INTEGER);
CREATE TABLE ticket_part (ticket_id INTEGER REFERENCES ticket, part_id INTEGER REFERENCES part,
    PRIMARY KEY (ticket_id, part_id));
CREATE TABLE part (id INTEGER PRIMARY KEY, name VARCHAR(30), price DECIMAL(8, 2));
INSERT INTO customer VALUES (1, 'Alto', 'Lyon'), (2, 'Brio', 'Graz'), (3, 'Cero', 'Lyon');
INSERT INTO device VALUES (1, 1, 'X1', '2021-01-05', 2.50), (2, 1, 'Y2', '2022-02-06', 7.00),
    (3, 2, 'X1', '2022-03-07', 2.50);
INSERT INTO technician VALUES (1, 'Dana', 'Lyon', 3000), (2, 'Egon', 'Graz', 2800),
    (3, 'Finn', 'Lyon', 3500);
INSERT INTO ticket VALUES (1, 1, 1, '2023-01-10', '2023-01-12', 'closed', 45),
    (2, 2, 1, '2023-02-11', NULL, 'open', 90), (3, 3, 2, '2023-03-12', '2023-03-13', 'closed', 30),
    (4, 1, 2, '2024-04-13', NULL, 'open', 120);
INSERT INTO part VALUES (1, 'Fan', 12.50), (2, 'Belt', 8.00), (3, 'Lens', 40.00);
INSERT INTO ticket_part VALUES (1, 1), (1, 2), (2, 1), (3, 3);
"""
REPAIR_QUESTIONS = [
    ("How many customers live in Lyon?", "2"),
    ("How many technicians live in Lyon?", "2"),
    ("How many tickets are open?", "2"),
    ("How many tickets are closed?", "2"),
    ("How many tickets does each technician have?", "Dana, 2; Egon, 2; Finn, 0"),
    ("How many technicians have no tickets?", "1"),
    ("How many customers have no devices?", "1"),
    ("How many devices does Alto have?", "2"),
    ("How many tickets does Alto have?", "3"),
    ("Which part is the most expensive?", "Lens, 40"),
    ("What is the average salary of technicians?", "3100"),
    ("Which technician has the highest salary?", "Finn, 3500"),
    ("How many tickets took longer than 1 hour?", "2"),
    ("How many tickets are longer than 1 hour?", "2"),
    ("What is the heaviest device?", "2"),
    ("How many tickets use the Fan?", None),
    ("How many tickets have the part Fan?", "2"),
    ("How many tickets have no parts?", "1"),
    ("How many parts cost less than 20?", "2"),
    ("How many tickets are there in Lyon?", None),
    ("How many tickets were there in 2023?", None),
    ("How many tickets were opened in 2023?", "3"),
    ("How many tickets were closed in 2023?", "2"),
    ("How many devices are there by model?", "X1, 2; Y2, 1"),
    ("How many customers in Lyon have open tickets?", "1"),
    ("How many devices were bought in 2022?", "2"),
    ("Which customers have no devices?", "Cero"),
    ("What is the total price of parts?", "60.5"),
    ("How many technicians earn well?", None),
    ("Lyon의 고객은 몇 명인가요?", "2"),
    ("고객별 기기는 몇 대인가요?", "Alto, 2; Brio, 1; Cero, 0"),
    ("가장 비싼 부품은 무엇인가요?", "Lens, 40"),
    ("기기가 없는 고객은 몇 명인가요?", "1"),
    ("부품의 평균 가격은 얼마인가요?", "20.17"),
]
