-- Why: certificates of erasures name what is kept; uploads that no answer has named belong to no event yet.
comment on table upload is 'personal data: question_answers, kept; the files themselves, for instance photographs of people; kept are files that no answer has named, for a day, because their event is not known';
comment on column upload.file_name is 'personal data: question_answers, kept; names of files that no answer has named, for a day, because their event is not known';
