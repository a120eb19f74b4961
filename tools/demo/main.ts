/**
 * `npm run demo`: a complete conversation through the public API of a running platform, from the booking to the
 * transcript, the audio and a chat. Simulates the meeting provider and, if none is configured, the language model.
 */
import { startLlm, type LlmServer } from '../../libs/product/testing/llm.ts';
import { startRealtimeKit, type RealtimeKitServer } from '../../libs/product/testing/realtimekit.ts';
import { planMeeting } from './artifact.ts';
import { exchangeAudio } from './audio.ts';
import { book, logIn } from './booking.ts';
import { chat } from './chat.ts';
import { createNarrator } from './narrator.ts';
import { DemoError, findPlatform, type DemoPlatform } from './platform.ts';
import { claimRoom, markRecorded, storeWindow } from './room.ts';
import { playMeeting, showImport, showTranscript } from './transcript.ts';

const narrator = createNarrator((text) => void process.stdout.write(text));

async function run(): Promise<void> {
  const startedAt = Date.now();
  const platform = findPlatform();
  const { provider, model } = await playOthers(platform);
  try {
    narrator.plain(`One conversation from the booking to the chat, on the platform at ${platform.baseUrl}.`);
    const meeting = planMeeting(Date.now());
    const host = await logIn(platform, narrator);
    const conversation = await book(platform, narrator, host, meeting);
    const room = await claimRoom(platform, narrator, conversation, meeting);
    const artifact = playMeeting(narrator, provider, room, meeting);
    await storeWindow(platform, narrator, conversation.id, meeting);
    await markRecorded(platform, narrator, conversation);
    await showImport(platform, narrator, conversation.id, artifact);
    await showTranscript(platform, narrator, conversation.id, artifact);
    await exchangeAudio(platform, narrator, host, conversation.id);
    await chat(platform, narrator, model);
    narrator.plain(
      `\nDone in ${((Date.now() - startedAt) / 1000).toFixed(1)} s. Everything is kept: conversation ${conversation.id}, ${platform.baseUrl}/api/docs shows how to read it.`,
    );
  } finally {
    await provider.stop();
    await model?.stop();
  }
}

/** Starts the simulated third-party servers at the addresses at which the platform expects them. */
async function playOthers({
  provider,
  model,
}: DemoPlatform): Promise<{ provider: RealtimeKitServer; model: LlmServer | undefined }> {
  const taken =
    (what: string, port: number) =>
    (error: unknown): never => {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      throw new DemoError(`Port ${port}, where the platform looks for the ${what}, is in use. Does another demo run?`);
    };
  const playedProvider = await startRealtimeKit({ port: provider.port, apiToken: provider.token, basePath: '' }).catch(
    taken('meeting provider', provider.port),
  );
  const playedModel =
    model === undefined
      ? undefined
      : await startLlm({ port: model.port, apiKey: model.key }).catch(taken('language model', model.port));
  return { provider: playedProvider, model: playedModel };
}

try {
  await run();
} catch (error) {
  process.stderr.write(
    `\n${error instanceof DemoError ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exitCode = 1;
}
