/**
 * The HTTP server of every port, including metrics and health (D95), without the edge of the gateway, which most
 * services do not need.
 */
export { createHttpServer } from '../server.ts';
