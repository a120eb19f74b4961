/**
 * HTTP servers and their guards. For the gateway also the koa application, routes from the route table, and the OpenAPI
 * documents with their pages.
 */
export { createApp } from './app.ts';
export { type Asset, createAsset, sendAsset } from './asset.ts';
export { readRawBody } from './body.ts';
export {
  type HttpContext,
  clientAddressOf,
  rewritePath,
  type Refusal,
  type HttpExchange,
  redactPath,
} from './exchange.ts';
export { countRefusals } from './capacity.ts';
export { createDocs, createDocsAssets, createDocument } from './docs.ts';
export { endRequestSpan, startRequestSpan, unmatchedRoute } from './exchange-span.ts';
export { rejectMalformed } from './malformed.ts';
export { hasBody, awaitsContinue, enforceBodyPace } from './incoming.ts';
export { chooseFormat } from './formats.ts';
export { publishSchema } from './openapi-models.ts';
export { type HandlerCall, mountRoutes, type RouteHandler, type RouteHandlers } from './mount.ts';
export { buildOpenApi, type OpenApiDocument, type OpenApiExamples } from './openapi.ts';
export { enforceResponsePace } from './outgoing.ts';
export { compileRouteCall } from './route-call.ts';
export { sendBytes, sendEmpty } from './reply.ts';
export { ByteBudget } from './byte-budget.ts';
export { createHttpServer, type HttpServer } from './server.ts';
