/**
 * Scene 3: the platform imports the transcript from the meeting provider, stores only the approved part, and can prove
 * it.
 */
import { createHash } from 'node:crypto';
import type { RealtimeKitServer } from '../../libs/product/testing/realtimekit.ts';
import type { ConversationOut } from '#services/conversations';
import type { ImportEvidence } from '#services/transcripts';
import { makeArtifact, type Artifact, type Meeting } from './artifact.ts';
import { formatBytes, formatTime, type Narrator } from './narrator.ts';
import { callApi, DemoError, waitUntil, type DemoPlatform } from './platform.ts';
import type { MeetingRoom } from './room.ts';

const printedLines = 22;

/** Adds the provider's session and its transcript to the simulated meeting provider. */
export function playMeeting(
  narrator: Narrator,
  provider: RealtimeKitServer,
  room: MeetingRoom,
  meeting: Meeting,
): Artifact {
  narrator.step(
    'The meeting takes place',
    'A small server plays the meeting provider (Cloudflare RealtimeKit) in its own wire format. Its transcript has what four people said in an hour, and also the small ' +
      'talk before and after it, and two sentences across the edges.',
  );
  const artifact = makeArtifact(meeting, room.speakers);
  const sessionId = `session-of-${room.meetingId}`;
  provider.addSession({
    id: sessionId,
    meetingId: room.meetingId,
    startedAt: formatTime(meeting.startedAtMs),
    endedAt: formatTime(meeting.endedAtMs),
  });
  provider.setArtifact(sessionId, { bytes: artifact.text, contentType: 'application/json' });
  narrator.result(`session ${formatTime(meeting.startedAtMs)} to ${formatTime(meeting.endedAtMs)}`);
  narrator.result(
    `${artifact.rows.length} sentences of ${room.speakers.length} speakers, ${formatBytes(Buffer.byteLength(artifact.text))}`,
  );
  return artifact;
}

export async function showImport(
  platform: DemoPlatform,
  narrator: Narrator,
  conversationId: number,
  artifact: Artifact,
): Promise<void> {
  narrator.step(
    'The transcript is imported',
    'A job finds the session of the meeting, downloads the transcript, and keeps only the sentences wholly inside the window. The evidence says how many were left out and why, never what they said.',
  );
  const path = `/api/coherence/conversations/${conversationId}/transcript/import-evidence`;
  const evidence = await waitUntil('the import', 60_000, async () => {
    const found = (await callApi(platform, 'GET', path)).json as ImportEvidence;
    return found.status === 'never_ran' ? undefined : found;
  });
  const { counts, window } = evidence;
  if (evidence.status !== 'imported' || counts === null) throw new DemoError(`The import ended as ${evidence.status}.`);
  narrator.result(`status ${evidence.status}; window ${window?.conversationStartedAt} to ${window?.captureEndedAt}`);
  narrator.result(
    `${counts.raw} sentences came, ${counts.accepted} are inside the window, ${counts.installedSegments} are stored`,
  );
  for (const [reason, count] of Object.entries(counts.excludedByReason))
    if (count > 0) narrator.result(`left out: ${String(count).padStart(4)}  ${reason}`);
  const sha256 = createHash('sha256').update(artifact.text).digest('hex');
  const isSame = evidence.artifact?.sha256 === sha256;
  narrator.result(
    `SHA-256 of the provider's file: ${sha256.slice(0, 16)}…, ${isSame ? 'the same as in the evidence' : 'NOT the one in the evidence'}`,
  );
  if (!isSame) throw new DemoError("The evidence names another file than the provider's.");
}

export async function showTranscript(
  platform: DemoPlatform,
  narrator: Narrator,
  conversationId: number,
  artifact: Artifact,
): Promise<void> {
  narrator.step(
    'The transcript can be read',
    'As Markdown, with the speakers by their present names and the time since the start of the window. These are its first lines:',
  );
  const { text, headers } = await callApi(platform, 'GET', `/api/coherence/conversations/${conversationId}/transcript`);
  const lines = text.split('\n');
  narrator.quote(lines.slice(0, printedLines).join('\n'));
  narrator.result(
    `${headers.get('content-disposition')}, ${lines.length} lines, ${formatBytes(Buffer.byteLength(text))}`,
  );
  const leaked = artifact.outside.find((sentence) => text.includes(sentence));
  if (leaked !== undefined)
    throw new DemoError(`The transcript contains "${leaked}", which was said outside the window.`);
  narrator.result(`none of the ${artifact.outside.length} sentences from outside the window is in it`);
  const conversation = (await callApi(platform, 'GET', `/api/coherence/conversations/${conversationId}`))
    .json as ConversationOut;
  narrator.result(`the import has moved the conversation to "${conversation.step_title}"`);
}
