export default function (amp) {
  amp.on("session.start", async () => {});
}
