/** Shared helpers of tests: environments on real servers, and services that run in an environment. */
export { bookingSecret, signBooking } from './environment.ts';
export { startCalCom, type CalComBooking, type CalComServer } from './cal-com.ts';
export { createAuthority, type Authority, type Certificate } from './system-programs.ts';
export { readCaptions } from './captions.ts';
export { contextFor, createTestActors, superuser } from './actors.ts';
export { runCli, type CliOutcome } from './cli.ts';
export { createTestEnvironment, type TestEnvironment } from './environment.ts';
export {
  confidentialClientId,
  confidentialClientSecret,
  consoleClientId,
  deviceClientId,
  consoleRedirectUri,
  startIdentityProvider,
  type IdentityProvider,
} from './identity-provider.ts';
export { startInnerServer, type InnerServer } from './inner-server.ts';
export { startLlm, type LlmFault, type LlmMessage, type LlmServer, type LlmSpeech } from './llm.ts';
export { startPlatform, startService, type Platform, type StartOptions } from './platform.ts';
export { copyRunning, runStatements, startPostgresPair, type PostgresPair } from './postgres-pair.ts';
export { conversationJourney } from './journeys.ts';
export { waitFor } from './wait-for.ts';
export { listLockWaits, waitForLockWait } from './wait-for.ts';
export { fastJobTuning, watchJobs, type JobWatch } from './job-watch.ts';
export { createNatsOperator, createNkey } from './nats-operator.ts';
export { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
export { startRealtimeKit, streamArtifact } from './realtimekit.ts';
export { playBytes, type PlayedContent } from './realtimekit-recordings.ts';
export type { Fault, FaultPoint, PlayedArtifact, RealtimeKitServer } from './realtimekit.ts';
export { startScriptProcess, type ScriptProcess } from './script-process.ts';
export {
  provideChromium,
  provideFfmpeg,
  provideGoProgram,
  providePython,
  provideTimeoutMs,
} from './system-programs.ts';
export { startPgBouncer, type PgBouncer } from './pgbouncer.ts';
export { startTelegram, type BotApiFault, type TelegramServer } from './telegram.ts';
export { findHtmlProblem } from './message-html.ts';
export { readTelegramHtml } from './message-html.ts';
export { startYoutube, type PlayedVideo, type YoutubeServer } from './youtube.ts';
export { startTraceCollector, type CollectedSpan, type TraceCollector } from './trace-collector.ts';
export {
  startWebhookReceiver,
  type ReceivedWebhook,
  type ReceiverAnswer,
  type WebhookReceiver,
} from './webhook-receiver.ts';
