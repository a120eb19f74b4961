/** The HTTP server of every port, that for metrics and health too (D95), without the edge of the gateway: most services have no use for that. */
export { createHttpServer } from '../server.ts';
