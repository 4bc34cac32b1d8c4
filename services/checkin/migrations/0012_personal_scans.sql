-- Why: what was scanned admits whoever has it, and the explanation of a refusal
-- may name its guest, so erasure has to find both.
comment on column scan.raw_code is 'personal data';
comment on column scan.explanation is 'personal data';
