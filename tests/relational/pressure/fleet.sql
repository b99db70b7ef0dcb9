-- A log of a fleet's maintenance, singular and in snake case: a trip goes from a depot to a depot, a
-- vehicle has a home depot, drivers a trainer; rows are generated (generated_rows.py).
CREATE TABLE depot (id INTEGER PRIMARY KEY, name VARCHAR(20), city VARCHAR(20), region VARCHAR(20));
CREATE TABLE vehicle (id INTEGER PRIMARY KEY, plate VARCHAR(12), make VARCHAR(20), fuel_type VARCHAR(10), home_depot_id INTEGER REFERENCES depot(id), mileage_km INTEGER, purchase_price DECIMAL(10, 2), purchased_on DATE, retired_on DATE, is_electric BOOLEAN);
CREATE TABLE driver (id INTEGER PRIMARY KEY, given_name VARCHAR(20), family_name VARCHAR(20), depot_id INTEGER REFERENCES depot(id), trainer_id INTEGER REFERENCES driver(id), license_class VARCHAR(4), hired_on DATE, monthly_pay DECIMAL(8, 2));
CREATE TABLE trip (id INTEGER PRIMARY KEY, vehicle_id INTEGER REFERENCES vehicle(id), driver_id INTEGER REFERENCES driver(id), from_depot_id INTEGER REFERENCES depot(id), to_depot_id INTEGER REFERENCES depot(id), started_at TIMESTAMP, ended_at TIMESTAMP, distance_km DECIMAL(7, 1), planned_distance_km DECIMAL(7, 1), fuel_liters DECIMAL(6, 1));
CREATE TABLE mechanic (id INTEGER PRIMARY KEY, given_name VARCHAR(20), family_name VARCHAR(20), depot_id INTEGER REFERENCES depot(id), certified BOOLEAN);
CREATE TABLE maintenance_job (id INTEGER PRIMARY KEY, vehicle_id INTEGER REFERENCES vehicle(id), mechanic_id INTEGER REFERENCES mechanic(id), opened_on DATE, closed_on DATE, kind VARCHAR(12), labor_hours DECIMAL(5, 1), cost DECIMAL(9, 2));
CREATE TABLE spare_part (id INTEGER PRIMARY KEY, part_name VARCHAR(30), supplier VARCHAR(20), unit_price DECIMAL(8, 2), stock_count INTEGER);
CREATE TABLE job_part (maintenance_job_id INTEGER REFERENCES maintenance_job(id), spare_part_id INTEGER REFERENCES spare_part(id), quantity INTEGER, PRIMARY KEY (maintenance_job_id, spare_part_id));
CREATE TABLE inspection (id INTEGER PRIMARY KEY, vehicle_id INTEGER REFERENCES vehicle(id), inspected_on DATE, passed BOOLEAN, remark VARCHAR(40));
