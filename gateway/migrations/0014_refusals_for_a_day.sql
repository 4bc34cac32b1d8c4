-- Why: a refusal is kept as long as any other answer. The column stays for processes of the previous version.
drop index kept_answer_brief;
