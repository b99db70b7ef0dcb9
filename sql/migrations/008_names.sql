-- Part numbers of several hyphens are also known without them: the names of files are analysed anew.
UPDATE source SET name_lexemes = NULL;
