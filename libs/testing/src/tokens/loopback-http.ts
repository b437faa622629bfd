import { err, messageOf, ok } from '@carillon/kernel';
import type { OutboundHttp } from '@carillon/ports';

/** HTTP without a guard, for tests of the layers above: it connects to any address. */
export const loopbackHttp: Pick<OutboundHttp, 'request'> = {
  async request({ method, url, headers, body, maxBytes, totalTimeout }) {
    try {
      const answer = await fetch(url, {
        method,
        headers,
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(totalTimeout),
      });
      const bytes = new Uint8Array(await answer.arrayBuffer());
      if (bytes.length > maxBytes) return err({ reason: 'too_large', detail: `larger than ${maxBytes} bytes` });
      return ok({ status: answer.status, headers: Object.fromEntries(answer.headers), body: bytes });
    } catch (error) {
      return err({ reason: 'unreachable', detail: messageOf(error) });
    }
  },
};
