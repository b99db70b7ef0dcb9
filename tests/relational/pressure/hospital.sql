-- A planner of hospital wards, singular and in camel case: an admission names a ward and the ward of a
-- transfer, nurses have a ward, a mentor and certificates; rows are generated (generated_rows.py).
CREATE TABLE Ward (wardId INTEGER PRIMARY KEY, wardName VARCHAR(30), floor INTEGER, bedCount INTEGER, isIntensive BOOLEAN);
CREATE TABLE Nurse (nurseId INTEGER PRIMARY KEY, fullName VARCHAR(40), grade VARCHAR(10), wardId INTEGER REFERENCES Ward(wardId), mentorId INTEGER REFERENCES Nurse(nurseId), hourlyWage DECIMAL(6, 2), hiredOn DATE, nightWorker BOOLEAN);
CREATE TABLE Certificate (certificateId INTEGER PRIMARY KEY, title VARCHAR(30), validMonths INTEGER);
CREATE TABLE NurseCertificate (nurseId INTEGER REFERENCES Nurse(nurseId), certificateId INTEGER REFERENCES Certificate(certificateId), PRIMARY KEY (nurseId, certificateId));
CREATE TABLE Patient (patientId INTEGER PRIMARY KEY, fullName VARCHAR(40), birthDate DATE, city VARCHAR(20), bloodType VARCHAR(4), weightKg DECIMAL(5, 1), heightCm INTEGER, allergic BOOLEAN);
CREATE TABLE Admission (admissionId INTEGER PRIMARY KEY, patientId INTEGER REFERENCES Patient(patientId), wardId INTEGER REFERENCES Ward(wardId), transferWardId INTEGER REFERENCES Ward(wardId), admittedOn DATE, dischargedOn DATE, urgency VARCHAR(10), dailyCharge DECIMAL(8, 2));
CREATE TABLE Shift (shiftId INTEGER PRIMARY KEY, nurseId INTEGER REFERENCES Nurse(nurseId), wardId INTEGER REFERENCES Ward(wardId), shiftDate DATE, kind VARCHAR(8), hours DECIMAL(4, 1), overtimeHours DECIMAL(4, 1));
CREATE TABLE Medication (medicationId INTEGER PRIMARY KEY, medicationName VARCHAR(30), maker VARCHAR(20), unitCost DECIMAL(8, 2));
CREATE TABLE Dose (doseId INTEGER PRIMARY KEY, admissionId INTEGER REFERENCES Admission(admissionId), medicationId INTEGER REFERENCES Medication(medicationId), nurseId INTEGER REFERENCES Nurse(nurseId), givenOn DATE, amountMg DECIMAL(8, 1));
