"""Two more databases, of other trades than the workshop: a library and a clinic, in SQLite.

Each has questions for numbers in English and Korean. What stands beside them was worked out by
hand from the rows.
"""

LIBRARY = """
CREATE TABLE publishers (publisher_id INTEGER PRIMARY KEY, publisher_name VARCHAR(40),
    country VARCHAR(20));
CREATE TABLE authors (author_id INTEGER PRIMARY KEY, first_name VARCHAR(20), last_name VARCHAR(20));
CREATE TABLE books (book_id INTEGER PRIMARY KEY, title VARCHAR(60), language VARCHAR(20),
    price DECIMAL(8, 2), pages INTEGER, publisher_id INTEGER REFERENCES publishers,
    author_id INTEGER REFERENCES authors, out_of_print BOOLEAN);
CREATE TABLE members (member_id INTEGER PRIMARY KEY, name VARCHAR(40), city VARCHAR(20),
    grade VARCHAR(10));
CREATE TABLE loans (loan_id INTEGER PRIMARY KEY, member_id INTEGER REFERENCES members,
    book_id INTEGER REFERENCES books, loan_date DATE, due_date DATE, return_date DATE);
INSERT INTO publishers VALUES (1, 'Harbor Press', 'UK'), (2, 'Hanbit', 'South Korea'),
    (3, 'Aurora', 'France');
INSERT INTO authors VALUES (1, 'Mina', 'Park'), (2, 'Owen', 'Reed'), (3, 'Lea', 'Blanc');
INSERT INTO books VALUES
    (1, 'Tides', 'English', 20.00, 300, 1, 2, 0), (2, 'Kites', 'Korean', 15.00, 200, 2, 1, 0),
    (3, 'Paper Boats', 'Korean', 12.50, 150, 2, 1, 1), (4, 'Lumen', 'French', 30.00, 420, 3, 3, 0),
    (5, 'Anchors', 'English', 18.00, 260, 1, 2, 0);
INSERT INTO members VALUES (1, 'Ana Costa', 'Lisbon', 'Gold'), (2, 'Kim Jiho', 'Seoul', 'Basic'),
    (3, 'Tom Ward', 'Leeds', 'Gold'), (4, 'Lee Sora', 'Seoul', 'Basic');
INSERT INTO loans VALUES
    (1, 1, 1, '2022-01-10', '2022-02-10', '2022-02-01'),
    (2, 1, 2, '2022-03-05', '2022-04-05', '2022-04-20'),
    (3, 2, 2, '2023-01-15', '2023-02-15', '2023-02-10'),
    (4, 2, 4, '2023-05-01', '2023-06-01', NULL),
    (5, 3, 1, '2023-06-11', '2023-07-11', '2023-07-30'),
    (6, 3, 5, '2023-06-12', '2023-07-12', NULL);
"""
LIBRARY_QUESTIONS = [
    ("How many books are there?", "도서는 몇 권인가요?", "5"),
    ("How many loans were there in 2023?", "2023년 대출은 몇 건인가요?", "4"),
    ("How many members live in Seoul?", "Seoul에 사는 회원은 몇 명인가요?", "2"),
    ("What is the average price of books?", "도서의 평균 가격은 얼마인가요?", "19.1"),
    ("Which book is the most expensive?", "가장 비싼 도서는 무엇인가요?", "Lumen, 30"),
    ("Which author has the most books?", None, "Mina Park, 2; Owen Reed, 2"),
    ("How many books did Owen Reed write?", None, "2"),
    ("How many loans did Kim Jiho make?", "Kim Jiho의 대출은 몇 건인가요?", "2"),
    (
        "How many members have never made a loan?",
        "대출을 한 번도 한 적이 없는 회원은 몇 명인가요?",
        "1",
    ),
    ("How many loans were returned after the due date?", None, "2"),
    ("Which publisher has the most books?", None, "Hanbit, 2; Harbor Press, 2"),
    ("How many loans are there of Korean publishers?", None, "2"),
    (
        "How many books does each publisher have?",
        "출판사별 도서는 몇 권인가요?",
        "Aurora, 1; Hanbit, 2; Harbor Press, 2",
    ),
    ("How many books are out of print?", None, "1"),
    ("What is the highest price of a book?", "도서의 최고 가격은 얼마인가요?", "30"),
    ("How many different cities do members live in?", None, "3"),
    ("How many loans did Gold members make?", "Gold 회원의 대출은 몇 건인가요?", "4"),
    ("How many loans were there in June 2023?", "2023년 6월의 대출은 몇 건인가요?", "2"),
    (
        "Which member made the most loans in 2023?",
        "2023년에 대출이 가장 많은 회원은 누구인가요?",
        "Kim Jiho, 2; Tom Ward, 2",
    ),
    ("How many books are there in each language?", None, "English, 2; French, 1; Korean, 2"),
    ("What percentage of loans were made by Gold members?", None, "66.67"),
]
CLINIC = """
CREATE TABLE departments (id INTEGER PRIMARY KEY, name VARCHAR(30));
CREATE TABLE doctors (id INTEGER PRIMARY KEY, full_name VARCHAR(40),
    department_id INTEGER REFERENCES departments, salary INTEGER, hire_date DATE);
CREATE TABLE patients (id INTEGER PRIMARY KEY, full_name VARCHAR(40), city VARCHAR(20),
    birth_date DATE, insured BOOLEAN);
CREATE TABLE visits (id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients,
    doctor_id INTEGER REFERENCES doctors, visit_date DATE, status VARCHAR(20));
CREATE TABLE treatments (id INTEGER PRIMARY KEY, visit_id INTEGER REFERENCES visits,
    treatment_name VARCHAR(30), cost DECIMAL(8, 2));
INSERT INTO departments VALUES (1, 'Cardiology'), (2, '정형외과'), (3, 'Radiology');
INSERT INTO doctors VALUES (1, 'Nora Lind', 1, 9000, '2015-04-01'),
    (2, 'Choi Minho', 2, 8000, '2019-09-01'), (3, 'Ivan Petrov', 1, 7000, '2021-01-15');
INSERT INTO patients VALUES (1, 'Pia Holm', 'Oslo', '1980-02-02', 1),
    (2, 'Jung Hana', 'Busan', '1991-07-09', 1), (3, 'Max Vogel', 'Oslo', '2001-12-24', 0);
INSERT INTO visits VALUES (1, 1, 1, '2024-01-05', 'done'), (2, 1, 3, '2024-02-11', 'done'),
    (3, 2, 2, '2024-02-20', 'cancelled'), (4, 2, 2, '2025-03-03', 'done'),
    (5, 3, 1, '2025-04-04', 'done');
INSERT INTO treatments VALUES (1, 1, 'ECG', 120.50), (2, 1, 'Blood test', 40.00),
    (3, 2, 'ECG', 110.00), (4, 4, 'Cast', 300.25), (5, 5, 'ECG', 130.00);
"""
CLINIC_QUESTIONS = [
    ("How many patients are there?", "환자는 몇 명인가요?", "3"),
    ("How many doctors work in Cardiology?", "Cardiology 부서의 의사는 몇 명인가요?", "2"),
    ("How many visits were there in 2024?", "2024년 진료는 몇 건인가요?", "3"),
    ("What is the average salary of doctors?", "의사의 평균 급여는 얼마인가요?", "8000"),
    ("What is the total cost of treatments?", "치료의 총비용은 얼마인가요?", "700.75"),
    ("What was the total cost in 2024?", None, "270.5"),
    (
        "Which doctor has the highest salary?",
        "급여가 가장 높은 의사는 누구인가요?",
        "Nora Lind, 9000",
    ),
    (
        "How many visits did each doctor have?",
        "의사별 진료는 몇 건인가요?",
        "Choi Minho, 2; Ivan Petrov, 1; Nora Lind, 2",
    ),
    ("How many patients live in Oslo?", "Oslo에 사는 환자는 몇 명인가요?", "2"),
    ("How many visits were cancelled?", "취소된 진료는 몇 건인가요?", "1"),
    ("Which patient has the most visits?", None, "Jung Hana, 2; Pia Holm, 2"),
    ("How many doctors were hired in 2019?", "2019년에 입사한 의사는 몇 명인가요?", "1"),
    ("What is the total cost of ECG?", None, "360.5"),
    ("How many insured patients are there?", None, "2"),
    ("How many different cities do patients live in?", None, "2"),
    ("What is the lowest salary of a doctor?", "의사의 최저 급여는 얼마인가요?", "7000"),
    (
        "Which department has the most doctors?",
        "의사가 가장 많은 부서는 어디인가요?",
        "Cardiology, 2",
    ),
    ("How many visits did Pia Holm have?", "Pia Holm의 진료는 몇 건인가요?", "2"),
    (
        "What is the total cost of treatments of Jung Hana?",
        "Jung Hana의 치료 총비용은 얼마인가요?",
        "300.25",
    ),
    ("How many visits were not cancelled?", None, "4"),
    (
        "How many doctors have a salary of at least 8000?",
        "급여가 7500 이상인 의사는 몇 명인가요?",
        "2",
    ),
    ("How many doctors are there?", "의사 수는 몇 명인가요?", "3"),
    ("How many patients were born in 2001?", "2001년에 태어난 환자는 몇 명인가요?", "1"),
]
CLINIC_REFUSED = [
    # The single cost of a treatment, or the sum of each visit?
    "What is the average cost per visit?",
    "What is the average cost of a visit?",
    "What is the highest cost of a visit?",
    # Three treatments are called ECG: five rows, or three names?
    "How many different treatments are there?",
    "What is the total cost of each treatment?",
    "How many doctors earn more than 7500?",
    "What is the average age of patients?",
]
