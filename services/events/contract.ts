/**
 * Contract of the events service: the event feed and webhook endpoints (rules/events; V1 to V11). Other services
 * declare their public events in their own contracts and publish them through their outboxes.
 */
import { auditRpcs, defineService, jobAdminRpcs, statusRpcs } from '#libs/infrastructure/contract';
import { deliveryRpcs } from './delivery-log/contract.ts';
import { endpointFeed, endpointRpcs } from './endpoints/contract.ts';
import { feedConsumers, feedEvents, feedRpcs } from './feed/contract.ts';
import { personDataRpcs } from './person-data/contract.ts';

export { deliveryListQuery, recovery } from './delivery-log/contract.ts';
export { endpointListQuery, endpointUpdate, newEndpoint, secretRotation } from './endpoints/contract.ts';
export { eventPage, feedQuery, feedTypes, maxWaitSeconds, PublicEvent } from './feed/contract.ts';

export const events = defineService({
  service: 'events',
  rpcs: {
    ...jobAdminRpcs('events'),
    ...auditRpcs('events'),
    ...statusRpcs('events'),
    ...feedRpcs,
    ...endpointRpcs,
    ...deliveryRpcs,
    ...personDataRpcs,
  },
  jobs: {},
  events: { ...feedEvents },
  feed: endpointFeed,
  consumers: { ...feedConsumers },
});
