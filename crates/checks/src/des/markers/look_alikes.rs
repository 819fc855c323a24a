//! Characters as a reader sees them: those of other alphabets, styles and widths that look like an ASCII character.

/// Longer texts are neither a key nor a value.
const MAX_FOLDED: usize = 64;

/// The folded text, in which `I` and `l` are the same.
pub(super) fn with_equal_strokes(text: &str) -> String {
    folded(text).replace('L', "I")
}

/// The letters and digits of a text in ASCII capitals, as a reader sees them.
pub(super) fn folded(text: &str) -> String {
    text.chars()
        .filter_map(seen_as)
        .filter(char::is_ascii_alphanumeric)
        .take(MAX_FOLDED)
        .map(|c| match c {
            '0' => 'O',
            '1' => 'I',
            c => c.to_ascii_uppercase(),
        })
        .collect()
}

/// Characters that look like a letter of a key, or like a part of `<!--`.
const LOOKS_LIKE: [(&str, char); 26] = [
    ("АаΑαÀÁÂÃÄÅàáâãäåĀāĂăĄąǍǎȦȧẠạẢảᴀᴬᵃªᎪ", 'A'),
    ("ВΒʙᴮᵇ", 'B'),
    ("СсϹÇçĆćĈĉĊċČčᴄᶜℂℭⅭⅽᏟ", 'C'),
    ("ԁĎďĐđÐᴅᴰᵈⅅⅆⅮⅾᎠ", 'D'),
    ("ЕеΕЁёÈÉÊËèéêëĒēĔĕĖėĘęĚěȨȩẸẹẺẻẼẽᴇᴱᵉℰℯⅇᎬ", 'E'),
    ("ℱᶠꜰ", 'F'),
    ("ԌɢᴳᵍĜĝĞğĠġĢģᏀ", 'G'),
    ("ІіΙıӀÌÍÎÏìíîïĨĩĪīĬĭĮįİǏǐỈỉỊịɪᴵⁱᶦℐℑⅈℹⅠⅰᎥ", 'I'),
    ("ЈјͿᴊᴶʲĴĵᎫ", 'J'),
    ("КкΚᴋᴷᵏĶķᏦ", 'K'),
    ("ℒℓʟᴸˡĹĺĻļĽľŁłⅬⅼᏞ", 'L'),
    ("МΜᴍᴹᵐℳⅯⅿᎷ", 'M'),
    ("ΝՈɴᴺⁿÑñŃńŅņŇňℕ", 'N'),
    ("ОоΟοÒÓÔÕÖØòóôõöøŌōŎŏŐőƠơǑǒỌọỎỏᴏᴼᵒºℴ", 'O'),
    ("РрΡρᴘᴾᵖℙᏢ", 'P'),
    ("ꞯ", 'Q'),
    ("ʀᴿʳŔŕŖŗŘřᏒ", 'R'),
    ("ЅѕꜱˢŚśŜŝŞşŠšȘșᏚ", 'S'),
    ("ТΤᴛᵀᵗŢţŤťŦŧȚțᎢ", 'T'),
    ("ÙÚÛÜùúûüŨũŪūŬŭŮůŰűŲųᴜᵁᵘ", 'U'),
    ("Ѵѵνᴠⱽᵛⅴ\u{2164}Ꮩ", 'V'),
    ("ʏÝýÿŸ", 'Y'),
    ("ᴢŹźŻżŽžᏃ", 'Z'),
    ("‹〈⟨˂ᐸ≺❮❰﹤«《", '<'),
    ("ǃꜝ¡﹗❗❕‼", '!'),
    ("‐‑‒–—―−﹘﹣־─¯⸺⸻ー〜˗━‾﹉", '-'),
];

/// The ASCII character that this one looks like.
pub(super) fn seen_as(c: char) -> Option<char> {
    match c {
        '_' | '~' => Some('-'),
        _ if c.is_ascii() => Some(c),
        // Full width.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0),
        // Scripts of East Asia, in which whole prompts are written.
        '\u{3041}'..='\u{30fb}' | '\u{3105}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' => None,
        _ if styled_letter(c).is_some() => styled_letter(c),
        _ => LOOKS_LIKE.iter().find(|(like, _)| like.contains(c)).map(|(_, seen)| *seen),
    }
}

/// The letter of an alphabet that only differs in style: mathematical, circled, squared.
fn styled_letter(c: char) -> Option<char> {
    const ALPHABETS: [(u32, u32); 7] = [
        (0x1d400, 0x1d6a3),
        (0x249c, 0x24b5),
        (0x24b6, 0x24e9),
        (0x1f130, 0x1f149),
        (0x1f150, 0x1f169),
        (0x1f170, 0x1f189),
        (0x1f1e6, 0x1f1ff),
    ];
    let code = u32::from(c);
    if (0x1d6a8..=0x1d7cb).contains(&code) {
        return greek_letter((code - 0x1d6a8) % 58);
    }
    let (start, _) = ALPHABETS.iter().find(|(start, end)| (*start..=*end).contains(&code))?;
    char::from_u32(u32::from('A') + (code - start) % 26)
}

/// The letter that a mathematical Greek one looks like, by its place in its alphabet.
fn greek_letter(place: u32) -> Option<char> {
    const CAPITALS: &[u8] = b"AB.DEZH.IK.MN.O.P..TYFX....";
    let letter = CAPITALS.get(usize::try_from(place % 26).ok()?).copied().map(char::from)?;
    if letter == '.' { None } else { Some(letter) }
}
