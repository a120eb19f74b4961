/** Process entry of the gateway. */
import { runService } from '#libs/infrastructure/lifecycle';
import { loadGatewayConfig } from './config.ts';
import { createService } from './service.ts';

if (import.meta.main)
  await runService('api-gateway', () => createService({ config: loadGatewayConfig() }), { heapGrowingPercent: 100 });
