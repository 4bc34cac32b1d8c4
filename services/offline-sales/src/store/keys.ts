export { type EntityKey, type EventKey, entityKey, eventKey } from "@tessera/kit/pg/entity-key";
