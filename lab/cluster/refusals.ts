/** Values that cannot work, and words of the message that refuses them. */
import type { Values } from './release.ts';

export const refusals: readonly { values: Values; says: string }[] = [
  { values: { settings: { LOG_LEVL: 'info' } }, says: 'LOG_LEVL' },
  { values: { settings: { API_TOKEN: 'secret-in-plain' } }, says: 'API_TOKEN' },
  { values: { components: { gatway: {} } }, says: 'gatway' },
  { values: { defaults: { replicas: 'two' } }, says: '/defaults/replicas' },
  { values: { secrets: { existingSecret: '' } }, says: 'these secret settings are missing' },
  { values: { ingress: { enabled: true } }, says: 'ingress.hosts is empty although ingress.enabled is true' },
  { values: { defaults: { terminationGracePeriodSeconds: 10 } }, says: 'terminationGracePeriodSeconds must be at least drainSeconds + 26' },
];
