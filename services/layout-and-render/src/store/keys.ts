export { type EntityKey, type EventKey, entityKey, eventKey } from "@tessera/events/entity-key";
