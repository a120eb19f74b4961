/** Reads captions as a player displays them, using an independent library (T1, T4). */
import * as mediaCaptions from 'media-captions';

/** One cue; times in milliseconds. */
export interface ReadCue {
  readonly id: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Text as displayed. For WebVTT, the voice is removed and character references are resolved. */
  readonly text: string;
  /** Name of the speaker; undefined except for WebVTT. */
  readonly voice: string | undefined;
}

interface Cue {
  readonly id: string;
  readonly startTime: number;
  readonly endTime: number;
  readonly text: string;
}
type Node =
  | { readonly type: 'text'; readonly data: string }
  | { readonly type: string; readonly voice?: string; readonly children: Node[] };

/**
 * Declares the functions of the package that are used here; TypeScript's resolution for Node does not find the
 * package's declarations.
 */
const { parseText, tokenizeVTTCue } = mediaCaptions as unknown as {
  parseText(
    text: string,
    options: object,
  ): Promise<{ readonly cues: Cue[]; readonly errors: { readonly message: string }[] }>;
  tokenizeVTTCue(cue: Cue): Node[];
};

/**
 * Returns the cues of a caption file.
 * @throws Error for input that a strict parser rejects
 */
export async function readCaptions(text: string, type: 'vtt' | 'srt'): Promise<ReadCue[]> {
  const { cues, errors } = await parseText(text, { type, strict: true, errors: true });
  if (errors.length > 0) throw new Error(`captions are refused: ${errors.map(({ message }) => message).join(', ')}`);
  return cues.map((cue) => {
    const nodes = type === 'vtt' ? tokenizeVTTCue(cue) : [];
    const [node] = nodes;
    const voice = node !== undefined && 'voice' in node ? node.voice : undefined;
    return {
      id: cue.id,
      startMs: Math.round(cue.startTime * 1000),
      endMs: Math.round(cue.endTime * 1000),
      text: type === 'vtt' ? nodes.map(readText).join('') : cue.text,
      voice,
    };
  });
}

function readText(node: Node): string {
  return 'data' in node ? node.data : node.children.map(readText).join('');
}
