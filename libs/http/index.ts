/** HTTP servers and their guards; for the gateway the app with its edge, routes from the table, the OpenAPI documents and their pages. */
export { createApp, type AppOptions, type HttpApp } from './app.ts';
export { type Asset, createAsset, sendAsset } from './asset.ts';
export { maxBodyBytes } from './body-size.ts';
export { readRawBody } from './body.ts';
export { invalidInput, renderError, type ValidationItem } from './envelope.ts';
export { type HttpContext, readClientAddress, readdress, type Refusal, refusals, type Surface, type Transfer } from './exchange.ts';
export { createDocs, createDocsAssets, createDocument, type Docs } from './docs.ts';
export { hasBody, watchBody } from './incoming.ts';
export { loggedPath } from './logged-path.ts';
export { countRefusals } from './metrics.ts';
export { type HandlerCall, type MountOptions, mountRoutes, type RouteHandler, type RouteHandlers } from './mount.ts';
export { buildOpenApi, type OpenApiDocument, type OpenApiExamples, type OpenApiInfo } from './openapi.ts';
export { watchAnswer } from './outgoing.ts';
export { compileRead } from './read.ts';
export { sendBytes } from './reply.ts';
export { Room } from './room.ts';
export { createHttpServer, type HttpServer } from './server.ts';
