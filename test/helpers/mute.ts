import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Sends a request and never reads the response. */
export async function mute(url: string, path: string, method = "GET", body = ""): Promise<Socket> {
  const { port } = new URL(url);
  const socket = connect({ port: Number(port), host: "127.0.0.1" }).pause();
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}
