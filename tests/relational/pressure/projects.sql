-- An agency: companies are client or contractor of a project, people assign, review and lead.
CREATE TABLE offices (office_id INTEGER PRIMARY KEY, office_name VARCHAR(20), city VARCHAR(20), country VARCHAR(20), floor_area_m2 INTEGER);
CREATE TABLE companies (company_id INTEGER PRIMARY KEY, company_name VARCHAR(30), city VARCHAR(20), country VARCHAR(20), parent_id INTEGER REFERENCES companies, employees INTEGER);
CREATE TABLE people (person_id INTEGER PRIMARY KEY, full_name VARCHAR(30), office_id INTEGER REFERENCES offices, manager_id INTEGER REFERENCES people, salary DECIMAL(10, 2), hire_date DATE, remote BOOLEAN);
CREATE TABLE skills (skill_id INTEGER PRIMARY KEY, skill_name VARCHAR(20));
CREATE TABLE people_skills (person_id INTEGER REFERENCES people, skill_id INTEGER REFERENCES skills, PRIMARY KEY (person_id, skill_id));
CREATE TABLE projects (project_id INTEGER PRIMARY KEY, project_name VARCHAR(30), client_id INTEGER REFERENCES companies, contractor_id INTEGER REFERENCES companies, lead_id INTEGER REFERENCES people, budget DECIMAL(12, 2), start_date DATE, end_date DATE, status VARCHAR(12));
CREATE TABLE tasks (task_id INTEGER PRIMARY KEY, title VARCHAR(40), project_id INTEGER REFERENCES projects, assignee_id INTEGER REFERENCES people, reviewer_id INTEGER REFERENCES people, estimate_hours DECIMAL(6, 1), priority VARCHAR(8), created_date DATE, due_date DATE, done_date DATE);
CREATE TABLE invoices (invoice_id INTEGER PRIMARY KEY, project_id INTEGER REFERENCES projects, invoice_date DATE, paid_date DATE, amount DECIMAL(12, 2));
INSERT INTO offices VALUES (1, 'Harbour', 'Porto', 'Portugal', 900), (2, 'Mill', 'Ghent', 'Belgium', 400);
INSERT INTO companies VALUES (1, 'Alder', 'Porto', 'Portugal', NULL, 500), (2, 'Birch', 'Ghent', 'Belgium', 1, 40), (3, 'Cedar', 'Lille', 'France', 1, 120), (4, 'Porto', 'Lille', 'France', NULL, 15);
INSERT INTO people VALUES (1, 'Rita Alves', 1, NULL, 5200.00, '2016-01-04', 0), (2, 'Tom Baert', 2, 1, 4100.50, '2018-03-01', 0), (3, 'Uma Cruz', 1, 1, 3900.00, '2019-09-02', 1), (4, 'Vik Dael', 2, 2, 3300.00, '2021-06-07', 1), (5, 'Wim Eeck', NULL, 2, 3300.00, '2021-08-01', 1);
INSERT INTO skills VALUES (1, 'Welding'), (2, 'Design'), (3, 'Planning');
INSERT INTO people_skills VALUES (1, 3), (2, 1), (2, 2), (3, 2), (4, 1);
INSERT INTO projects VALUES (1, 'Quay', 1, 2, 1, 90000.00, '2022-02-01', '2022-12-20', 'closed'), (2, 'Lock', 2, 3, 2, 45000.00, '2023-01-10', NULL, 'open'), (3, 'Pier', 1, 3, 2, 30000.00, '2023-05-05', NULL, 'open'), (4, 'Dyke', 4, NULL, 3, NULL, '2024-01-01', NULL, 'planned');
INSERT INTO tasks VALUES (1, 'Survey', 1, 1, 2, 8.0, 'high', '2022-02-02', '2022-02-20', '2022-02-18'), (2, 'Draw', 1, 3, 1, 20.5, 'low', '2022-03-01', '2022-04-01', '2022-04-15'), (3, 'Weld', 2, 4, 2, 40.0, 'high', '2023-02-01', '2023-03-01', NULL), (4, 'Paint', 2, 4, 3, 12.0, 'medium', '2023-03-03', '2023-04-01', '2023-03-30'), (5, 'Plan', 3, 2, NULL, 5.0, 'low', '2023-06-01', '2023-06-15', NULL), (6, 'Check', 3, 3, 2, 2.0, 'high', '2024-01-15', '2024-02-01', NULL);
INSERT INTO invoices VALUES (1, 1, '2022-06-30', '2022-07-15', 40000.00), (2, 1, '2022-12-31', '2023-01-20', 50000.00), (3, 2, '2023-06-30', NULL, 20000.00), (4, 3, '2023-12-31', '2024-02-01', 10000.00);
