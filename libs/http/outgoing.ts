/** Answers while a client takes them: how slowly it may, and how much of them may wait here for all clients together. */
import { answerPace, lookRegularly, Pace } from '#libs/transfer';
import type { Refusal, HttpExchange } from './exchange.ts';
import type { Transfer } from './byte-budget.ts';

/**
 * Ends the answer when the client takes it too slowly, or when others need its room and it is under way longest. For answers that are
 * not taken in one go.
 * @param waitingBytes bytes of it in this process.
 */
export function enforceResponsePace({ req, res, state }: HttpExchange, waitingBytes: () => number, rule = answerPace): void {
  const { socket } = req;
  const { responseBudget: answers, countRefusal: refused } = state;
  const takenBytes = (): number => socket.bytesWritten - socket.writableLength;
  const before = takenBytes();
  const pace = new Pace(rule, performance.now());
  const end = (reason: Refusal): void => {
    refused(reason);
    res.destroy();
  };
  const guest: Transfer = {
    since: performance.now(),
    bytes: 0,
    pause: () => undefined,
    resume: () => undefined,
    evict: () => end('no_room_for_answer'),
  };
  answers.add(guest);
  answers.adjust(guest, waitingBytes());
  const stop = lookRegularly((nowMs, isLate) => {
    answers.adjust(guest, waitingBytes() - guest.bytes);
    if (pace.isSlow(nowMs, takenBytes() - before, isLate || socket.writableLength === 0)) end('answer_too_slow');
  });
  res.once('close', () => {
    stop();
    answers.remove(guest);
  });
}
