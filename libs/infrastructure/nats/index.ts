/** The platform's messaging (architecture#rpc). Only this library imports the NATS client. */
export { connectBus, requiredPayloadBytes } from './bus.ts';
export type { Bus, BusSettings } from './types.ts';
export { describeServers } from './connect.ts';
export type { ConsumerOptions, Delivery, RunningConsumer } from './consumer.ts';
export type { Permissions } from './permissions.ts';
export { maxReplicas, type StreamLimits, type StreamName, streamNames, streams } from './streams.ts';
export {
  byteStream,
  jsonListStream,
  jsonPage,
  JsonStream,
  jsonStream,
  liveStream,
  RawJson,
  type RawReply,
  rawBytes,
  rawJson,
  TaggedReply,
  withDigest,
  withEtag,
  withOutcome,
  withTotal,
} from './reply.ts';
export { type CallRefusal, isClockSkew } from './admission.ts';
export type { BusMetrics, Handler, Handlers, HandlersOf } from './responder.ts';
export type { RequestContext } from './served-context.ts';
export { createBusMetrics, measureStreams } from './metrics.ts';
export { type CallContext, newContext, withoutActor } from './wire.ts';
export { consumeEvent } from './consume-event.ts';
