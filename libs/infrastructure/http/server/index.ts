/**
 * The HTTP server of every port, including metrics and health (D95). It does not load the HTTP edge, which most
 * services do not need.
 */
export { createHttpServer } from '../server.ts';
