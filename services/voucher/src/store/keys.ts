export { type EntityKey, type EventKey, entityKey, eventKey, keysAs, nameOf } from "@tessera/events/entity-key";
