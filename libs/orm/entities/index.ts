/** MikroORM: entities, the one declaration of a service's tables, and units of work on them. It takes a while to load: who needs it, loads it. */
export { defineEntity, LockMode, p, raw, ref } from '@mikro-orm/core';
export { columns } from './entity-managers.ts';
export { createEntityManagers } from './entity-managers.ts';
export type { Entities } from './entity-managers.ts';
