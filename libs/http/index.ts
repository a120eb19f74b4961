/** HTTP servers and their guards; for the gateway the app with its edge, routes from the table, the OpenAPI documents and their pages. */
export { createApp } from './app.ts';
export { type Asset, createAsset, sendAsset } from './asset.ts';
export { readRawBody } from './body.ts';
export { type HttpContext, readClientAddress, readdress, type Refusal, type Transfer } from './exchange.ts';
export { createDocs, createDocsAssets, createDocument } from './docs.ts';
export { refuseFaulty } from './faulty.ts';
export { hasBody, isHeldBack, watchBody } from './incoming.ts';
export { chooseFormat } from './formats.ts';
export { publish } from './openapi-models.ts';
export { loggedPath } from './logged-path.ts';
export { countRefusals } from './metrics.ts';
export { type HandlerCall, mountRoutes, type RouteHandler, type RouteHandlers } from './mount.ts';
export { buildOpenApi, type OpenApiDocument, type OpenApiExamples } from './openapi.ts';
export { watchAnswer } from './outgoing.ts';
export { compileRead } from './read.ts';
export { sendBytes, sendNothing } from './reply.ts';
export { Room } from './room.ts';
export { createHttpServer, type HttpServer } from './server.ts';
