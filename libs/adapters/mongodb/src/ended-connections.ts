import { MongoNetworkError } from 'mongodb';
import driver from 'mongodb/lib/cmap/connection.js';

let isGuarded = false;

/**
 * Makes a command fail whose connection closes while it is being written. The driver writes it and waits for `drain` or `error`; a
 * socket that the server has ended, and that is destroyed but has not closed yet, takes no bytes and then says only `close`. So the
 * operation would wait for ever, and where it is the monitor's the server would never be found again, by no operation of this
 * process. For every client of the process, once; a driver that has no such method is refused (docs/decisions/0022).
 */
export function endCommandsWithTheirConnection(): void {
  const { prototype } = driver.Connection;
  if (isGuarded) return;
  // oxlint-disable-next-line typescript/unbound-method -- it is called on a connection below
  const { writeCommand } = prototype;
  if (typeof writeCommand !== 'function')
    throw new Error('internal error: this version of the MongoDB driver is not supported');
  isGuarded = true;
  prototype.writeCommand = async function write(command, options) {
    const closed = Promise.withResolvers<never>();
    const onClose = (): void => closed.reject(this.error ?? new MongoNetworkError('the connection was closed'));
    if (this.closed) onClose();
    this.once('close', onClose);
    try {
      await Promise.race([writeCommand.call(this, command, options), closed.promise]);
    } finally {
      this.off('close', onClose);
    }
  };
}
