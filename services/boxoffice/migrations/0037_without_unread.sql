--! breaking
-- Why: nothing reads these columns, and nothing draws ids of these sequences: records bring them.
alter table position drop column addon_to;
alter table sale drop column sold_at;

drop sequence blocked_secret_id_seq;
drop sequence category_id_seq;
drop sequence device_id_seq;
drop sequence gate_id_seq;
drop sequence item_id_seq;
drop sequence position_id_seq;
drop sequence question_id_seq;
drop sequence question_option_id_seq;
drop sequence quota_id_seq;
drop sequence reusable_medium_id_seq;
drop sequence revoked_secret_id_seq;
drop sequence subevent_id_seq;
drop sequence tax_rule_id_seq;
drop sequence variation_id_seq;
