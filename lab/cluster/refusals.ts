/** Lists invalid values, with texts that the error message must contain. */
import type { Values } from './release.ts';

export const refusals: readonly { values: Values; message: string }[] = [
  { values: { settings: { LOG_LEVL: 'info' } }, message: 'LOG_LEVL' },
  { values: { settings: { API_TOKEN: 'secret-in-plain' } }, message: 'API_TOKEN' },
  { values: { components: { gatway: {} } }, message: 'gatway' },
  { values: { defaults: { replicas: 'two' } }, message: '/defaults/replicas' },
  { values: { secrets: { existingSecret: '' } }, message: 'these secret settings are missing' },
  { values: { ingress: { enabled: true } }, message: 'ingress.hosts is empty although ingress.enabled is true' },
  {
    values: { defaults: { terminationGracePeriodSeconds: 10 } },
    message: 'terminationGracePeriodSeconds must be at least drainSeconds + 26',
  },
];
