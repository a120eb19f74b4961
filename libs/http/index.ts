/** HTTP for the gateway: the app with its edge, routes from the table, the OpenAPI documents and their pages. */
export { createApp, createHttpServer, type AppOptions, type HttpApp, type HttpServer } from './app.ts';
export { type Asset, packAsset, sendAsset } from './asset.ts';
export { maxBodyBytes, readRawBody } from './body.ts';
export { invalidInput, renderError, type ValidationItem } from './envelope.ts';
export { type HttpContext, readClientAddress, type Surface } from './exchange.ts';
export { createDocs, createDocsAssets, type Docs } from './docs.ts';
export { createGate, type Gate } from './gate.ts';
export { type HandlerCall, type MountOptions, mountRoutes, type RouteHandler } from './mount.ts';
export { buildOpenApi, type OpenApiDocument, type OpenApiExamples, type OpenApiInfo } from './openapi.ts';
export { sendBytes } from './reply.ts';
