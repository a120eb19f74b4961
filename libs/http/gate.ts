/** Bounds how many large bodies are in memory at the same time. */
import { unavailable } from '#libs/errors';

/** Bodies up to this many bytes are not worth counting, and never wait behind large ones. */
const smallBytes = 65_536;

export interface Gate {
  /**
   * Lets a body of the declared size in, in order of arrival; one without a declared size counts as large.
   * Resolves with the function that gives the place back. @throws AppError unavailable when no place is free by `deadlineMs` (epoch; Infinity = waits).
   */
  enter(contentLength: string | undefined, deadlineMs: number): Promise<() => void>;
}

/** @param maxLarge large bodies inside at the same time. */
export function createGate(maxLarge: number): Gate {
  const waiting = new Set<() => void>();
  let inside = 0;
  const nothing = (): void => undefined;
  const admit = (): (() => void) => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const [next] = waiting;
      if (next === undefined) inside--;
      else next();
    };
  };
  return {
    enter: (contentLength, deadlineMs) => {
      if (contentLength !== undefined && Number(contentLength) <= smallBytes) return Promise.resolve(nothing);
      if (inside < maxLarge) {
        inside++;
        return Promise.resolve(admit());
      }
      return new Promise((resolve, reject) => {
        const giveUp = (): void => {
          waiting.delete(onTurn);
          reject(unavailable('The service is busy'));
        };
        const timer = deadlineMs === Infinity ? undefined : setTimeout(giveUp, Math.max(0, deadlineMs - Date.now()));
        const onTurn = (): void => {
          waiting.delete(onTurn);
          clearTimeout(timer);
          resolve(admit());
        };
        waiting.add(onTurn);
      });
    },
  };
}
