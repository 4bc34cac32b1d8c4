--! breaking
-- Why: a refusal is kept as long as any other answer, so nothing tells them apart.

drop index kept_answer_brief;
alter table kept_answer drop column brief;
