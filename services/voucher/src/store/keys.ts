export { type EntityKey, type EventKey, entityKey, eventKey, keysAs, nameOf } from "@tessera/kit/pg/entity-key";
