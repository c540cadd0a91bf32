"""A FairPlay Streaming device and a small key server, written from the protocol and not from Latchkey.

It shares no code, no constant file and no generated table with the Swift sources. A mistake that the Swift server and
the Swift simulator have in common shows here.

    tags         names of the TLLV tags and of the values that have a name
    tllv         framing: build and parse blocks
    session_keys D function, device key, master key, AES, RSA-OAEP
    containers   the clear part of an SPC: versions 1, 2 and 3
    facts        what a device reports of itself and requests: one type for each optional block
    license      what is granted: a key, and terms for streaming or for keeping the license
    spc          the device: makes Server Playback Contexts and keeps their secrets
    ckc          the device: opens a Content Key Context and checks everything in it
    key_server   the other side: opens an SPC of another program and answers with a CKC
    refusal      why an SPC is refused
    credentials  certificates, private keys and application secrets, read from files or newly made
"""
