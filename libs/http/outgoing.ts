/** Answers while a client takes them: how slowly it may, and how much of them may wait here for all clients together. */
import { answerPace, lookRegularly, Pace } from '#libs/transfer';
import type { Refusal, Transfer } from './exchange.ts';
import type { Guest } from './room.ts';

/**
 * Ends the answer when the client takes it too slowly, or when others need its room and it is under way longest. For answers that are
 * not taken in one go.
 * @param waitingBytes bytes of it in this process.
 */
export function watchAnswer({ req, res, state }: Transfer, waitingBytes: () => number, rule = answerPace): void {
  const { socket } = req;
  const { answers, refused } = state;
  const takenBytes = (): number => socket.bytesWritten - socket.writableLength;
  const before = takenBytes();
  const pace = new Pace(rule, performance.now());
  const end = (reason: Refusal): void => {
    refused(reason);
    res.destroy();
  };
  const guest: Guest = {
    since: performance.now(),
    bytes: 0,
    pause: () => undefined,
    resume: () => undefined,
    evict: () => end('no_room_for_answer'),
  };
  answers.enter(guest);
  answers.change(guest, waitingBytes());
  const stop = lookRegularly((nowMs, isLate) => {
    answers.change(guest, waitingBytes() - guest.bytes);
    if (pace.isSlow(nowMs, takenBytes() - before, isLate || socket.writableLength === 0)) end('answer_too_slow');
  });
  res.once('close', () => {
    stop();
    answers.leave(guest);
  });
}
