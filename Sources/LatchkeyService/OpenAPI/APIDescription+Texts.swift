// Written by Scripts/embed-openapi from openapi.json. Change that file.

extension APIDescription {
    static let textOfAllListeners = #"""
        {"openapi":"3.1.0","info":{"title":"Latchkey","version":"0.1.0","summary":"A FairPlay Streaming licence serv\#
        er.","description":"Every route of the public listeners and, where an admin listener gives this description\#
        , of admin listeners. A method that is not listed for a path is refused with 405 and `Allow`, an unknown met\#
        hod with 501. HEAD is answered as GET, without a body. Refusals are `application/problem+json` unless a pat\#
        h says otherwise; `x-error-codes` lists the codes of an operation, beside those of HTTP itself, which the ro\#
        ot's `x-error-codes-of-http` lists for all of them. With `entitlement.dashIFStatus` the refusals of tokens t\#
        hat prove too little have the status 403 in place of 401. Paths with `x-listeners` `public` are for stranger\#
        s; those with `admin` alone are for operators.","license":{"name":"Apache-2.0","identifier":"Apache-2.0"}},"\#
        jsonSchemaDialect":"https://spec.openapis.org/oas/3.1/dialect/base","x-error-codes-of-http":["overloaded","b\#
        ad_request","request_timeout","body_too_large","uri_too_long","head_too_large","expectation_failed","not_imp\#
        lemented","version_not_supported","internal"],"servers":[{"url":"/","description":"The listener that gives t\#
        his description."}],"tags":[{"name":"licences","description":"Licences, renewals, sync reports, and what i\#
        s known of them."},{"name":"certificates","description":"Application certificates, for everyone."},{"name":"\#
        health","description":"For load balancers."},{"name":"description","description":"This description."},{"name\#
        ":"cross-origin","description":"What browsers ask for pages of other origins."},{"name":"expressplay","descr\#
        iption":"Token URLs for customers, in ExpressPlay's manner."},{"name":"packagers","description":"Keys for pa\#
        ckagers, over TLS, from the same machine, or behind a trusted proxy alone."},{"name":"administration","descr\#
        iption":"Admin listeners, with an admin token."}],"paths":{"/fps/license":{"x-listeners":["public"],"post":{\#
        "operationId":"requestLicence","tags":["licences"],"summary":"A licence, a renewal, an offline licence, a sy\#
        nc report or a report of ended sessions","security":[{"token":[]},{"nvAuthorizations":[]},{"axinomMessage":[\#
        ]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expressPlayQuery":[]},{"toke\#
        nQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/components/parameters/Offli\#
        ne"},{"$ref":"#/components/parameters/Renew"},{"$ref":"#/components/parameters/Previous"},{"$ref":"#/compone\#
        nts/parameters/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/components/parameters/ContentI\#
        dHint"},{"$ref":"#/components/parameters/KIDHint"},{"$ref":"#/components/parameters/VideoId"},{"$ref":"#/com\#
        ponents/parameters/KIDField"},{"$ref":"#/components/parameters/RenewField"}],"requestBody":{"$ref":"#/compon\#
        ents/requestBodies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/responses/Licence"},"400":{"$re\#
        f":"#/components/responses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"$ref":"#/co\#
        mponents/responses/Player403"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/components\#
        /responses/Problem408"},"409":{"$ref":"#/components/responses/Player409"},"413":{"$ref":"#/components/respon\#
        ses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Pr\#
        oblem417"},"422":{"$ref":"#/components/responses/Player422"},"429":{"$ref":"#/components/responses/Player429\#
        "},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501\#
        ":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"},"505":{"$re\#
        f":"#/components/responses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","spc_is_certifica\#
        te","spc_double_base64","spc_version_unsupported","spc_malformed","spc_certificate_unknown","spc_rejected","\#
        spc_replayed","token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_revoked","t\#
        oken_signature","token_expired","token_not_yet","token_life","token_audience","token_issuer","token_schema",\#
        "token_used","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch"\#
        ,"offline_not_allowed","right_not_started","right_ended","device_mismatch","device_limit","concurrency_limit\#
        ","session_expired","session_killed","key_not_found","key_store_timeout","rate_limited","entitlement_denied"\#
        ,"entitlement_unavailable","terms_not_expressible","security_level","storage_unavailable","clock_untrusted",\#
        "module_unavailable"]},"options":{"operationId":"preflightLicence","tags":["cross-origin"],"summary":"Wha\#
        t a browser asks before it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses\#
        /Preflight"},"400":{"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem\#
        408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},\#
        "417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{\#
        "$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":\#
        "#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},"/fps/license/{ki\#
        d}":{"x-listeners":["public"],"parameters":[{"$ref":"#/components/parameters/PathKeyId"}],"post":{"operation\#
        Id":"requestLicenceByKey","tags":["licences"],"summary":"A licence, a renewal, an offline licence, a sync re\#
        port or a report of ended sessions","description":"Without `licensePaths` in the configuration this path i\#
        s served; with it, those that are listed there.","security":[{"token":[]},{"nvAuthorizations":[]},{"axinomMe\#
        ssage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expressPlayQuery":[]\#
        },{"tokenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/components/paramete\#
        rs/Offline"},{"$ref":"#/components/parameters/Renew"},{"$ref":"#/components/parameters/Previous"},{"$ref":"#\#
        /components/parameters/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/components/parameters/\#
        ContentIdHint"},{"$ref":"#/components/parameters/KIDHint"},{"$ref":"#/components/parameters/VideoId"},{"$ref\#
        ":"#/components/parameters/KIDField"},{"$ref":"#/components/parameters/RenewField"}],"requestBody":{"$ref":"\#
        #/components/requestBodies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/responses/Licence"},"40\#
        0":{"$ref":"#/components/responses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"$re\#
        f":"#/components/responses/Player403"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/co\#
        mponents/responses/Problem408"},"409":{"$ref":"#/components/responses/Player409"},"413":{"$ref":"#/component\#
        s/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/resp\#
        onses/Problem417"},"422":{"$ref":"#/components/responses/Player422"},"429":{"$ref":"#/components/responses/P\#
        layer429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player50\#
        0"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"},"50\#
        5":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","spc_is_c\#
        ertificate","spc_double_base64","spc_version_unsupported","spc_malformed","spc_certificate_unknown","spc_rej\#
        ected","spc_replayed","token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_rev\#
        oked","token_signature","token_expired","token_not_yet","token_life","token_audience","token_issuer","token_\#
        schema","token_used","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","content_m\#
        ismatch","offline_not_allowed","right_not_started","right_ended","device_mismatch","device_limit","concurren\#
        cy_limit","session_expired","session_killed","key_not_found","key_store_timeout","rate_limited","entitlement\#
        _denied","entitlement_unavailable","terms_not_expressible","security_level","storage_unavailable","clock_unt\#
        rusted","module_unavailable","not_found"]},"options":{"operationId":"preflightLicenceByKey","tags":["cross-o\#
        rigin"],"summary":"What a browser asks before it sends a request","security":[],"responses":{"204":{"$ref":"\#
        #/components/responses/Preflight"},"400":{"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/compon\#
        ents/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/r\#
        esponses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/respons\#
        es/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Play\#
        er500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"\#
        }}}},"/fps/v1/license":{"x-listeners":["public"],"post":{"operationId":"requestLicenceV1","tags":["licences"\#
        ],"summary":"A licence, a renewal, an offline licence, a sync report or a report of ended sessions","descrip\#
        tion":"Without `licensePaths` in the configuration this path is served; with it, those that are listed there\#
        .","security":[{"token":[]},{"nvAuthorizations":[]},{"axinomMessage":[]},{"axinomQuery":[]},{"drmToday":[]},\#
        {"drmCloud":[]},{"expressPlayToken":[]},{"expressPlayQuery":[]},{"tokenQuery":[]},{"userTokenQuery":[]},{"dr\#
        mTokenQuery":[]}],"parameters":[{"$ref":"#/components/parameters/Offline"},{"$ref":"#/components/parameters/\#
        Renew"},{"$ref":"#/components/parameters/Previous"},{"$ref":"#/components/parameters/Format"},{"$ref":"#/com\#
        ponents/parameters/AssetId"},{"$ref":"#/components/parameters/ContentIdHint"},{"$ref":"#/components/paramete\#
        rs/KIDHint"},{"$ref":"#/components/parameters/VideoId"},{"$ref":"#/components/parameters/KIDField"},{"$ref":\#
        "#/components/parameters/RenewField"}],"requestBody":{"$ref":"#/components/requestBodies/LicenceRequest"},"r\#
        esponses":{"200":{"$ref":"#/components/responses/Licence"},"400":{"$ref":"#/components/responses/Player400"}\#
        ,"401":{"$ref":"#/components/responses/Player401"},"403":{"$ref":"#/components/responses/Player403"},"404":{\#
        "$ref":"#/components/responses/Player404"},"408":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":\#
        "#/components/responses/Player409"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/comp\#
        onents/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"422":{"$ref":"#/components\#
        /responses/Player422"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/respons\#
        es/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/Prob\#
        lem501"},"503":{"$ref":"#/components/responses/Player503"},"505":{"$ref":"#/components/responses/Problem505"\#
        }},"x-error-codes":["body_empty","body_unrecognised","spc_is_certificate","spc_double_base64","spc_version_u\#
        nsupported","spc_malformed","spc_certificate_unknown","spc_rejected","spc_replayed","token_missing","token_a\#
        mbiguous","token_malformed","token_alg","kid_unknown","kid_revoked","token_signature","token_expired","token\#
        _not_yet","token_life","token_audience","token_issuer","token_schema","token_used","token_revoked","subject_\#
        disabled","device_revoked","ip_denied","geo_denied","content_mismatch","offline_not_allowed","right_not_star\#
        ted","right_ended","device_mismatch","device_limit","concurrency_limit","session_expired","session_killed","\#
        key_not_found","key_store_timeout","rate_limited","entitlement_denied","entitlement_unavailable","terms_not_\#
        expressible","security_level","storage_unavailable","clock_untrusted","module_unavailable","not_found"]},"op\#
        tions":{"operationId":"preflightLicenceV1","tags":["cross-origin"],"summary":"What a browser asks before i\#
        t sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref\#
        ":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/co\#
        mponents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/componen\#
        ts/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/resp\#
        onses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/P\#
        roblem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},"/fps/v1/license/{kid}":{"x-listeners":["p\#
        ublic"],"parameters":[{"$ref":"#/components/parameters/PathKeyId"}],"post":{"operationId":"requestLicenceByK\#
        eyV1","tags":["licences"],"summary":"A licence, a renewal, an offline licence, a sync report or a report o\#
        f ended sessions","description":"Without `licensePaths` in the configuration this path is served; with it, t\#
        hose that are listed there.","security":[{"token":[]},{"nvAuthorizations":[]},{"axinomMessage":[]},{"axinomQ\#
        uery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expressPlayQuery":[]},{"tokenQuery":[]},\#
        {"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/components/parameters/Offline"},{"$ref"\#
        :"#/components/parameters/Renew"},{"$ref":"#/components/parameters/Previous"},{"$ref":"#/components/paramete\#
        rs/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/components/parameters/ContentIdHint"},{"$r\#
        ef":"#/components/parameters/KIDHint"},{"$ref":"#/components/parameters/VideoId"},{"$ref":"#/components/para\#
        meters/KIDField"},{"$ref":"#/components/parameters/RenewField"}],"requestBody":{"$ref":"#/components/request\#
        Bodies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/responses/Licence"},"400":{"$ref":"#/compon\#
        ents/responses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"$ref":"#/components/res\#
        ponses/Player403"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/components/responses/P\#
        roblem408"},"409":{"$ref":"#/components/responses/Player409"},"413":{"$ref":"#/components/responses/Problem4\#
        13"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"\#
        422":{"$ref":"#/components/responses/Player422"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$\#
        ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#\#
        /components/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"},"505":{"$ref":"#/compon\#
        ents/responses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","spc_is_certificate","spc_dou\#
        ble_base64","spc_version_unsupported","spc_malformed","spc_certificate_unknown","spc_rejected","spc_replayed\#
        ","token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_revoked","token_signatu\#
        re","token_expired","token_not_yet","token_life","token_audience","token_issuer","token_schema","token_used"\#
        ,"token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch","offline_no\#
        t_allowed","right_not_started","right_ended","device_mismatch","device_limit","concurrency_limit","session_e\#
        xpired","session_killed","key_not_found","key_store_timeout","rate_limited","entitlement_denied","entitlemen\#
        t_unavailable","terms_not_expressible","security_level","storage_unavailable","clock_untrusted","module_unav\#
        ailable","not_found"]},"options":{"operationId":"preflightLicenceByKeyV1","tags":["cross-origin"],"summary":\#
        "What a browser asks before it sends a request","security":[],"responses":{"204":{"$ref":"#/components/respo\#
        nses/Preflight"},"400":{"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Pro\#
        blem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem41\#
        4"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"43\#
        1":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$r\#
        ef":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},"/{prefix}/co\#
        ntentlicenseservice/v1/licenses":{"x-listeners":["public"],"parameters":[{"$ref":"#/components/parameters/Pr\#
        efix"}],"post":{"operationId":"requestLicenceNAGRA","tags":["licences"],"summary":"A licence, a renewal, a\#
        n offline licence, a sync report or a report of ended sessions","description":"Licences as `CkcMessage` an\#
        d refusals with `errorCode`, in NAGRA's manner. Without `licensePaths` in the configuration this path is ser\#
        ved; with it, those that are listed there.","security":[{"token":[]},{"nvAuthorizations":[]},{"axinomMessage\#
        ":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expressPlayQuery":[]},{"t\#
        okenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/components/parameters/Of\#
        fline"},{"$ref":"#/components/parameters/Renew"},{"$ref":"#/components/parameters/Previous"},{"$ref":"#/comp\#
        onents/parameters/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/components/parameters/Conte\#
        ntIdHint"},{"$ref":"#/components/parameters/KIDHint"},{"$ref":"#/components/parameters/VideoId"},{"$ref":"#/\#
        components/parameters/KIDField"},{"$ref":"#/components/parameters/RenewField"}],"requestBody":{"$ref":"#/com\#
        ponents/requestBodies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/responses/Licence"},"400":{"\#
        $ref":"#/components/responses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"$ref":"#\#
        /components/responses/Player403"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/compone\#
        nts/responses/Problem408"},"409":{"$ref":"#/components/responses/Player409"},"413":{"$ref":"#/components/res\#
        ponses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses\#
        /Problem417"},"422":{"$ref":"#/components/responses/Player422"},"429":{"$ref":"#/components/responses/Player\#
        429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"\#
        501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"},"505":{"\#
        $ref":"#/components/responses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","spc_is_certif\#
        icate","spc_double_base64","spc_version_unsupported","spc_malformed","spc_certificate_unknown","spc_rejected\#
        ","spc_replayed","token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_revoked"\#
        ,"token_signature","token_expired","token_not_yet","token_life","token_audience","token_issuer","token_schem\#
        a","token_used","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mismat\#
        ch","offline_not_allowed","right_not_started","right_ended","device_mismatch","device_limit","concurrency_li\#
        mit","session_expired","session_killed","key_not_found","key_store_timeout","rate_limited","entitlement_deni\#
        ed","entitlement_unavailable","terms_not_expressible","security_level","storage_unavailable","clock_untruste\#
        d","module_unavailable","not_found"]},"options":{"operationId":"preflightLicenceNAGRA","tags":["cross-origin\#
        "],"summary":"What a browser asks before it sends a request","security":[],"responses":{"204":{"$ref":"#/com\#
        ponents/responses/Preflight"},"400":{"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/\#
        responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/respon\#
        ses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Pl\#
        ayer429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500\#
        "},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/hms/fp/rights/":{"x-listeners":["public"],"post":{"operationId":"redeemExpressPlayToken","tags":["licences\#
        "],"summary":"A licence, a renewal, an offline licence, a sync report or a report of ended sessions","descri\#
        ption":"The same as `/fps/license`, with refusals in ExpressPlay's manner. `expressPlay.redeemPaths` may nam\#
        e other paths in its place.","security":[{"token":[]},{"nvAuthorizations":[]},{"axinomMessage":[]},{"axinomQ\#
        uery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expressPlayQuery":[]},{"tokenQuery":[]},\#
        {"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/components/parameters/Offline"},{"$ref"\#
        :"#/components/parameters/Renew"},{"$ref":"#/components/parameters/Previous"},{"$ref":"#/components/paramete\#
        rs/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/components/parameters/ContentIdHint"},{"$r\#
        ef":"#/components/parameters/KIDHint"},{"$ref":"#/components/parameters/VideoId"},{"$ref":"#/components/para\#
        meters/KIDField"},{"$ref":"#/components/parameters/RenewField"}],"requestBody":{"$ref":"#/components/request\#
        Bodies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/responses/Licence"},"400":{"$ref":"#/compon\#
        ents/responses/ExpressPlay400"},"401":{"$ref":"#/components/responses/ExpressPlay401"},"403":{"$ref":"#/comp\#
        onents/responses/ExpressPlay403"},"404":{"$ref":"#/components/responses/ExpressPlay404"},"408":{"$ref":"#/co\#
        mponents/responses/Problem408"},"409":{"$ref":"#/components/responses/ExpressPlay409"},"413":{"$ref":"#/comp\#
        onents/responses/ExpressPlay413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/compon\#
        ents/responses/Problem417"},"422":{"$ref":"#/components/responses/ExpressPlay422"},"429":{"$ref":"#/componen\#
        ts/responses/ExpressPlay429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components\#
        /responses/ExpressPlay500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/r\#
        esponses/ExpressPlay503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["body_empty",\#
        "body_unrecognised","spc_is_certificate","spc_double_base64","spc_version_unsupported","spc_malformed","spc_\#
        certificate_unknown","spc_rejected","spc_replayed","token_missing","token_ambiguous","token_malformed","toke\#
        n_alg","kid_unknown","kid_revoked","token_signature","token_expired","token_not_yet","token_life","token_aud\#
        ience","token_issuer","token_schema","token_used","token_revoked","subject_disabled","device_revoked","ip_de\#
        nied","geo_denied","content_mismatch","offline_not_allowed","right_not_started","right_ended","device_mismat\#
        ch","device_limit","concurrency_limit","session_expired","session_killed","key_not_found","key_store_timeout\#
        ","rate_limited","entitlement_denied","entitlement_unavailable","terms_not_expressible","security_level","st\#
        orage_unavailable","clock_untrusted","module_unavailable","not_found"]},"options":{"operationId":"preflightR\#
        edeem","tags":["cross-origin"],"summary":"What a browser asks before it sends a request","security":[],"resp\#
        onses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"#/components/responses/ExpressPlay4\#
        00"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/ExpressPlay413\#
        "},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"42\#
        9":{"$ref":"#/components/responses/ExpressPlay429"},"431":{"$ref":"#/components/responses/Problem431"},"500"\#
        :{"$ref":"#/components/responses/ExpressPlay500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{\#
        "$ref":"#/components/responses/Problem505"}}}},"/fps/certificate":{"x-listeners":["public"],"get":{"operatio\#
        nId":"getCertificate","tags":["certificates"],"summary":"The application certificate","description":"Withou\#
        t a query the bundle of the first credential: its 1024-bit certificate, followed by its 2048-bit one. Unknow\#
        n parameters say nothing.","security":[],"parameters":[{"$ref":"#/components/parameters/Credential"},{"$ref"\#
        :"#/components/parameters/Size"},{"$ref":"#/components/parameters/CertificateFormat"},{"$ref":"#/components/\#
        parameters/IfNoneMatch"}],"responses":{"200":{"$ref":"#/components/responses/Certificate"},"304":{"$ref":"#/\#
        components/responses/CertificateNotModified"},"400":{"$ref":"#/components/responses/Player400"},"404":{"$ref\#
        ":"#/components/responses/Player404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/co\#
        mponents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/componen\#
        ts/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/resp\#
        onses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/P\#
        roblem501"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_found"]},"head":{"oper\#
        ationId":"headGetCertificate","tags":["certificates"],"summary":"The fields of the answer to GET","security"\#
        :[],"parameters":[{"$ref":"#/components/parameters/Credential"},{"$ref":"#/components/parameters/Size"},{"$r\#
        ef":"#/components/parameters/CertificateFormat"},{"$ref":"#/components/parameters/IfNoneMatch"}],"responses"\#
        :{"200":{"$ref":"#/components/responses/Certificate"},"304":{"$ref":"#/components/responses/CertificateNotMo\#
        dified"},"400":{"$ref":"#/components/responses/Player400"},"404":{"$ref":"#/components/responses/Player404"}\#
        ,"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414"\#
        :{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$re\#
        f":"#/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/c\#
        omponents/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/componen\#
        ts/responses/Problem505"}},"x-error-codes":["not_found"]},"options":{"operationId":"preflightGetCertificate"\#
        ,"tags":["cross-origin"],"summary":"What a browser asks before it sends a request","security":[],"responses"\#
        :{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"#/components/responses/Player400"},"408":\#
        {"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref\#
        ":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/c\#
        omponents/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/componen\#
        ts/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/resp\#
        onses/Problem505"}}}},"/fps/v1/certificate":{"x-listeners":["public"],"get":{"operationId":"getCertificateV1\#
        ","tags":["certificates"],"summary":"The application certificate","description":"Without a query the bundl\#
        e of the first credential: its 1024-bit certificate, followed by its 2048-bit one. Unknown parameters say no\#
        thing.","security":[],"parameters":[{"$ref":"#/components/parameters/Credential"},{"$ref":"#/components/para\#
        meters/Size"},{"$ref":"#/components/parameters/CertificateFormat"},{"$ref":"#/components/parameters/IfNoneMa\#
        tch"}],"responses":{"200":{"$ref":"#/components/responses/Certificate"},"304":{"$ref":"#/components/response\#
        s/CertificateNotModified"},"400":{"$ref":"#/components/responses/Player400"},"404":{"$ref":"#/components/res\#
        ponses/Player404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/\#
        Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Proble\#
        m417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},\#
        "500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{\#
        "$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_found"]},"head":{"operationId":"headGetCe\#
        rtificateV1","tags":["certificates"],"summary":"The fields of the answer to GET","security":[],"parameters":\#
        [{"$ref":"#/components/parameters/Credential"},{"$ref":"#/components/parameters/Size"},{"$ref":"#/components\#
        /parameters/CertificateFormat"},{"$ref":"#/components/parameters/IfNoneMatch"}],"responses":{"200":{"$ref":"\#
        #/components/responses/Certificate"},"304":{"$ref":"#/components/responses/CertificateNotModified"},"400":{"\#
        $ref":"#/components/responses/Player400"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#\#
        /components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/compo\#
        nents/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/\#
        responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/respons\#
        es/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Prob\#
        lem505"}},"x-error-codes":["not_found"]},"options":{"operationId":"preflightGetCertificateV1","tags":["cross\#
        -origin"],"summary":"What a browser asks before it sends a request","security":[],"responses":{"204":{"$ref"\#
        :"#/components/responses/Preflight"},"400":{"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/comp\#
        onents/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components\#
        /responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/respo\#
        nses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Pl\#
        ayer500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem50\#
        5"}}}},"/{prefix}/contentlicenseservice/v1/certificates":{"x-listeners":["public"],"parameters":[{"$ref":"#/\#
        components/parameters/Prefix"}],"get":{"operationId":"getCertificateNAGRA","tags":["certificates"],"summary"\#
        :"The application certificate","description":"Without a query the bundle of the first credential: its 1024-b\#
        it certificate, followed by its 2048-bit one. Unknown parameters say nothing.","security":[],"parameters":[{\#
        "$ref":"#/components/parameters/Credential"},{"$ref":"#/components/parameters/Size"},{"$ref":"#/components/p\#
        arameters/CertificateFormat"},{"$ref":"#/components/parameters/IfNoneMatch"}],"responses":{"200":{"$ref":"#/\#
        components/responses/Certificate"},"304":{"$ref":"#/components/responses/CertificateNotModified"},"400":{"$r\#
        ef":"#/components/responses/Player400"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/c\#
        omponents/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/compone\#
        nts/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/re\#
        sponses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses\#
        /Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Proble\#
        m505"}},"x-error-codes":["not_found"]},"head":{"operationId":"headGetCertificateNAGRA","tags":["certificates\#
        "],"summary":"The fields of the answer to GET","security":[],"parameters":[{"$ref":"#/components/parameters/\#
        Credential"},{"$ref":"#/components/parameters/Size"},{"$ref":"#/components/parameters/CertificateFormat"},{"\#
        $ref":"#/components/parameters/IfNoneMatch"}],"responses":{"200":{"$ref":"#/components/responses/Certificate\#
        "},"304":{"$ref":"#/components/responses/CertificateNotModified"},"400":{"$ref":"#/components/responses/Play\#
        er400"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/components/responses/Problem408"}\#
        ,"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417"\#
        :{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref\#
        ":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/co\#
        mponents/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_fo\#
        und"]},"options":{"operationId":"preflightGetCertificateNAGRA","tags":["cross-origin"],"summary":"What a bro\#
        wser asks before it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Prefli\#
        ght"},"400":{"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"\#
        413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{\#
        "$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":\#
        "#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/comp\#
        onents/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},"/fps/licenses/query":{"\#
        x-listeners":["public"],"post":{"operationId":"queryLicences","tags":["licences"],"summary":"Until when lice\#
        nces are good, and when to renew them","security":[{"token":[]},{"nvAuthorizations":[]},{"axinomMessage":[]}\#
        ,{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expressPlayQuery":[]},{"tokenQ\#
        uery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"requestBody":{"required":true,"content":{"application\#
        /json":{"schema":{"$ref":"#/components/schemas/LicenceQuery"}}}},"responses":{"200":{"description":"The stat\#
        e of each licence, as far as it was given to this subject.","headers":{"X-Request-Id":{"$ref":"#/components/\#
        headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/js\#
        on":{"schema":{"$ref":"#/components/schemas/LicenceStates"}}}},"400":{"$ref":"#/components/responses/Player4\#
        00"},"401":{"$ref":"#/components/responses/Player401"},"403":{"$ref":"#/components/responses/Player403"},"40\#
        8":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$\#
        ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"\#
        #/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/compo\#
        nents/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/r\#
        esponses/Player503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["body_empty","body\#
        _unrecognised","token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_revoked","\#
        token_signature","token_expired","token_not_yet","token_life","token_audience","token_issuer","token_schema"\#
        ,"token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch","session_ex\#
        pired","session_killed","key_store_timeout","rate_limited","entitlement_denied","entitlement_unavailable","s\#
        torage_unavailable","clock_untrusted"]},"options":{"operationId":"preflightQuery","tags":["cross-origin"],"s\#
        ummary":"What a browser asks before it sends a request","security":[],"responses":{"204":{"$ref":"#/componen\#
        ts/responses/Preflight"},"400":{"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/respo\#
        nses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/P\#
        roblem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player4\#
        29"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"5\#
        01":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},"/fps\#
        /challenge":{"x-listeners":["public"],"post":{"operationId":"issueChallenge","tags":["licences"],"summary":"\#
        A number for the next sync report","security":[{"token":[]},{"nvAuthorizations":[]},{"axinomMessage":[]},{"a\#
        xinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expressPlayQuery":[]},{"tokenQuery\#
        ":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"responses":{"200":{"description":"A challenge, which is a\#
        ccepted once.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"\#
        #/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas/C\#
        hallenge"}}}},"400":{"$ref":"#/components/responses/Player400"},"401":{"$ref":"#/components/responses/Player\#
        401"},"403":{"$ref":"#/components/responses/Player403"},"408":{"$ref":"#/components/responses/Problem408"},"\#
        413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{\#
        "$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":\#
        "#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/comp\#
        onents/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"},"505":{"$ref":"#/components/\#
        responses/Problem505"}},"x-error-codes":["token_missing","token_ambiguous","token_malformed","token_alg","ki\#
        d_unknown","kid_revoked","token_signature","token_expired","token_not_yet","token_life","token_audience","to\#
        ken_issuer","token_schema","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","con\#
        tent_mismatch","session_expired","session_killed","rate_limited","entitlement_denied","entitlement_unavailab\#
        le","storage_unavailable","clock_untrusted"]},"options":{"operationId":"preflightChallenge","tags":["cross-o\#
        rigin"],"summary":"What a browser asks before it sends a request","security":[],"responses":{"204":{"$ref":"\#
        #/components/responses/Preflight"},"400":{"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/compon\#
        ents/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/r\#
        esponses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/respons\#
        es/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Play\#
        er500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"\#
        }}}},"/livez":{"x-listeners":["public","admin"],"get":{"operationId":"getLiveness","tags":["health"],"summar\#
        y":"Whether the daemon lives","security":[],"responses":{"200":{"description":"It lives.","headers":{"X-Requ\#
        est-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl\#
        "}},"content":{"text/plain; charset=utf-8":{"schema":{"type":"string","pattern":"^ok\\n$"}}}},"400":{"$ref":\#
        "#/components/responses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/com\#
        ponents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/component\#
        s/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/resp\#
        onses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/\#
        Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}},"head":{"operationId":"headGetLiveness","t\#
        ags":["health"],"summary":"The fields of the answer to GET","security":[],"responses":{"200":{"description":\#
        "It lives.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/c\#
        omponents/headers/CacheControl"}},"content":{"text/plain; charset=utf-8":{"schema":{"type":"string","pattern\#
        ":"^ok\\n$"}}}},"400":{"$ref":"#/components/responses/Problem400"},"408":{"$ref":"#/components/responses/Pro\#
        blem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem41\#
        4"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"4\#
        31":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"\#
        $ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}},"options":{"\#
        operationId":"preflightLiveness","tags":["cross-origin"],"summary":"What a browser asks before it sends a re\#
        quest","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"#/compone\#
        nts/responses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/re\#
        sponses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/response\#
        s/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Prob\#
        lem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501\#
        "},"505":{"$ref":"#/components/responses/Problem505"}}}},"/readyz":{"x-listeners":["public","admin"],"get":{\#
        "operationId":"getReadiness","tags":["health"],"summary":"Whether the daemon wants requests","security":[],"\#
        responses":{"200":{"description":"It does. Admin listeners name what is degraded in a second line.","headers\#
        ":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/Ca\#
        cheControl"}},"content":{"text/plain; charset=utf-8":{"schema":{"type":"string","pattern":"^ready\\n"}}}},"5\#
        03":{"description":"It stops, or it can issue no licence at all.","headers":{"X-Request-Id":{"$ref":"#/compo\#
        nents/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"text/pla\#
        in; charset=utf-8":{"schema":{"type":"string","pattern":"^not ready\\n"}}}},"400":{"$ref":"#/components/resp\#
        onses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/\#
        Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Proble\#
        m417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"}\#
        ,"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"505"\#
        :{"$ref":"#/components/responses/Problem505"}}},"head":{"operationId":"headGetReadiness","tags":["health"],"\#
        summary":"The fields of the answer to GET","security":[],"responses":{"200":{"description":"It does. Admin l\#
        isteners name what is degraded in a second line.","headers":{"X-Request-Id":{"$ref":"#/components/headers/Re\#
        questId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"text/plain; charset=utf-\#
        8":{"schema":{"type":"string","pattern":"^ready\\n"}}}},"503":{"description":"It stops, or it can issue no l\#
        icence at all.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":\#
        "#/components/headers/CacheControl"}},"content":{"text/plain; charset=utf-8":{"schema":{"type":"string","pat\#
        tern":"^not ready\\n"}}}},"400":{"$ref":"#/components/responses/Problem400"},"408":{"$ref":"#/components/res\#
        ponses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses\#
        /Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Probl\#
        em429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"\#
        },"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}},"o\#
        ptions":{"operationId":"preflightReadiness","tags":["cross-origin"],"summary":"What a browser asks before i\#
        t sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref\#
        ":"#/components/responses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/c\#
        omponents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/compone\#
        nts/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/re\#
        sponses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/response\#
        s/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},"/openapi.json":{"x-listeners":["public\#
        ","admin"],"get":{"operationId":"getDescription","tags":["description"],"summary":"This description","descri\#
        ption":"On admin listeners with an admin token, as everything there but health.","security":[{},{"adminToken\#
        ":[]}],"responses":{"200":{"description":"OpenAPI 3.1. The public listener describes its own routes alone; a\#
        n admin listener describes those of both.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId\#
        "},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"t\#
        ype":"object","required":["openapi","info","paths"],"properties":{"openapi":{"type":"string"}}}}}},"400":{"$\#
        ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"408":{"$ref":"\#
        #/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/comp\#
        onents/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components\#
        /responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/respo\#
        nses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/P\#
        roblem505"}},"x-error-codes":["admin_token_invalid","rate_limited"]},"head":{"operationId":"headGetDescripti\#
        on","tags":["description"],"summary":"The fields of the answer to GET","security":[{},{"adminToken":[]}],"re\#
        sponses":{"200":{"description":"OpenAPI 3.1. The public listener describes its own routes alone; an admin li\#
        stener describes those of both.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-\#
        Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"type":"obje\#
        ct","required":["openapi","info","paths"],"properties":{"openapi":{"type":"string"}}}}}},"400":{"$ref":"#/co\#
        mponents/responses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"408":{"$ref":"#/componen\#
        ts/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/res\#
        ponses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses\#
        /Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Probl\#
        em500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"\#
        }},"x-error-codes":["admin_token_invalid","rate_limited"]},"options":{"operationId":"preflightDescription","\#
        tags":["cross-origin"],"summary":"What a browser asks before it sends a request","security":[],"responses":{\#
        "204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"#/components/responses/Problem400"},"408":{\#
        "$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref"\#
        :"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/co\#
        mponents/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/componen\#
        ts/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/res\#
        ponses/Problem505"}}}},"/hms/fp/token":{"x-listeners":["public"],"get":{"operationId":"makeToken","tags":["e\#
        xpressplay"],"summary":"A token URL, by GET","description":"404 unless `expressPlay.customers` lists custome\#
        rs.","security":[{"customerAuthenticator":[]}],"parameters":[{"$ref":"#/components/parameters/FormErrorForma\#
        t"},{"$ref":"#/components/parameters/FormGeneralFlags"},{"$ref":"#/components/parameters/FormContentKey"},{"\#
        $ref":"#/components/parameters/FormKek"},{"$ref":"#/components/parameters/FormEk"},{"$ref":"#/components/par\#
        ameters/FormKid"},{"$ref":"#/components/parameters/FormIv"},{"$ref":"#/components/parameters/FormRentalDurat\#
        ion"},{"$ref":"#/components/parameters/FormFpExtension"},{"$ref":"#/components/parameters/FormExpirationTime\#
        "},{"$ref":"#/components/parameters/FormCookie"},{"$ref":"#/components/parameters/FormLatchkeylease"},{"$ref\#
        ":"#/components/parameters/FormLatchkeydevice"},{"$ref":"#/components/parameters/FormLatchkeybind"},{"$ref":\#
        "#/components/parameters/FormLatchkeyuses"},{"$ref":"#/components/parameters/FormLatchkeyhdcp"},{"$ref":"#/c\#
        omponents/parameters/FormRightsType"},{"$ref":"#/components/parameters/FormRentalperiodEndTime"},{"$ref":"#/\#
        components/parameters/FormRentalplayDuration"},{"$ref":"#/components/parameters/FormAnalogVideoOPL"},{"$ref"\#
        :"#/components/parameters/FormCompressedDigitalAudioOPL"},{"$ref":"#/components/parameters/FormCompressedDig\#
        italVideoOPL"},{"$ref":"#/components/parameters/FormUncompressedDigitalAudioOPL"},{"$ref":"#/components/para\#
        meters/FormUncompressedDigitalVideoOPL"},{"$ref":"#/components/parameters/FormPrFlag"},{"$ref":"#/components\#
        /parameters/FormUseHttps"}],"responses":{"200":{"description":"One URL with the token, for the app.","header\#
        s":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/C\#
        acheControl"}},"content":{"text/uri-list":{"schema":{"type":"string","format":"uri"}}}},"400":{"$ref":"#/com\#
        ponents/responses/ExpressPlay400"},"401":{"$ref":"#/components/responses/ExpressPlay401"},"403":{"$ref":"#/c\#
        omponents/responses/ExpressPlay403"},"404":{"$ref":"#/components/responses/ExpressPlay404"},"408":{"$ref":"#\#
        /components/responses/Problem408"},"413":{"$ref":"#/components/responses/ExpressPlay413"},"414":{"$ref":"#/c\#
        omponents/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/compone\#
        nts/responses/ExpressPlay429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/component\#
        s/responses/ExpressPlay500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/\#
        responses/ExpressPlay503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_found"]\#
        },"post":{"operationId":"makeTokenByForm","tags":["expressplay"],"summary":"A token URL, by a form","descrip\#
        tion":"The authenticator is a member of the form, or a parameter of the query.","security":[{},{"customerAut\#
        henticator":[]}],"parameters":[{"$ref":"#/components/parameters/FormErrorFormat"},{"$ref":"#/components/para\#
        meters/FormGeneralFlags"},{"$ref":"#/components/parameters/FormContentKey"},{"$ref":"#/components/parameters\#
        /FormKek"},{"$ref":"#/components/parameters/FormEk"},{"$ref":"#/components/parameters/FormKid"},{"$ref":"#/c\#
        omponents/parameters/FormIv"},{"$ref":"#/components/parameters/FormRentalDuration"},{"$ref":"#/components/pa\#
        rameters/FormFpExtension"},{"$ref":"#/components/parameters/FormExpirationTime"},{"$ref":"#/components/param\#
        eters/FormCookie"},{"$ref":"#/components/parameters/FormLatchkeylease"},{"$ref":"#/components/parameters/For\#
        mLatchkeydevice"},{"$ref":"#/components/parameters/FormLatchkeybind"},{"$ref":"#/components/parameters/FormL\#
        atchkeyuses"},{"$ref":"#/components/parameters/FormLatchkeyhdcp"},{"$ref":"#/components/parameters/FormRight\#
        sType"},{"$ref":"#/components/parameters/FormRentalperiodEndTime"},{"$ref":"#/components/parameters/FormRent\#
        alplayDuration"},{"$ref":"#/components/parameters/FormAnalogVideoOPL"},{"$ref":"#/components/parameters/Form\#
        CompressedDigitalAudioOPL"},{"$ref":"#/components/parameters/FormCompressedDigitalVideoOPL"},{"$ref":"#/comp\#
        onents/parameters/FormUncompressedDigitalAudioOPL"},{"$ref":"#/components/parameters/FormUncompressedDigital\#
        VideoOPL"},{"$ref":"#/components/parameters/FormPrFlag"},{"$ref":"#/components/parameters/FormUseHttps"}],"r\#
        equestBody":{"required":false,"content":{"application/x-www-form-urlencoded":{"schema":{"$ref":"#/components\#
        /schemas/TokenForm"}}}},"responses":{"200":{"description":"One URL with the token, for the app.","headers":{\#
        "X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/Cache\#
        Control"}},"content":{"text/uri-list":{"schema":{"type":"string","format":"uri"}}}},"400":{"$ref":"#/compone\#
        nts/responses/ExpressPlay400"},"401":{"$ref":"#/components/responses/ExpressPlay401"},"403":{"$ref":"#/compo\#
        nents/responses/ExpressPlay403"},"404":{"$ref":"#/components/responses/ExpressPlay404"},"408":{"$ref":"#/com\#
        ponents/responses/Problem408"},"413":{"$ref":"#/components/responses/ExpressPlay413"},"414":{"$ref":"#/compo\#
        nents/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/\#
        responses/ExpressPlay429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/re\#
        sponses/ExpressPlay500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/resp\#
        onses/ExpressPlay503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_found"]},"o\#
        ptions":{"operationId":"preflightToken","tags":["cross-origin"],"summary":"What a browser asks before it sen\#
        ds a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"#/\#
        components/responses/ExpressPlay400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/co\#
        mponents/responses/ExpressPlay413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/comp\#
        onents/responses/Problem417"},"429":{"$ref":"#/components/responses/ExpressPlay429"},"431":{"$ref":"#/compon\#
        ents/responses/Problem431"},"500":{"$ref":"#/components/responses/ExpressPlay500"},"501":{"$ref":"#/componen\#
        ts/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},"/sees/SEESServlet":{"x-list\#
        eners":["public"],"post":{"operationId":"askEntitlementServer","tags":["expressplay"],"summary":"A token UR\#
        L by content, for back ends","description":"404 unless `expressPlay.sees` is configured.","security":[{"enti\#
        tlementServer":[]},{"entitlementServerCertificate":[]}],"requestBody":{"required":true,"content":{"applicati\#
        on/json":{"schema":{"$ref":"#/components/schemas/SEESQuestion"}}}},"responses":{"200":{"description":"A toke\#
        n URL, or why there is none.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Con\#
        trol":{"$ref":"#/components/headers/CacheControl"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}}\#
        ,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/SEESAnswer"}}}},"400":{"$ref":"#/comp\#
        onents/responses/SEES400"},"401":{"$ref":"#/components/responses/SEES401"},"403":{"$ref":"#/components/respo\#
        nses/SEES403"},"404":{"$ref":"#/components/responses/SEES404"},"408":{"$ref":"#/components/responses/Problem\#
        408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},\#
        "417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/SEES429"},"431":{"$\#
        ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/SEES500"},"501":{"$ref":"#/c\#
        omponents/responses/Problem501"},"503":{"$ref":"#/components/responses/SEES503"},"505":{"$ref":"#/components\#
        /responses/Problem505"}},"x-error-codes":["not_found"]},"options":{"operationId":"preflightEntitlementServer\#
        ","tags":["cross-origin"],"summary":"What a browser asks before it sends a request","security":[],"responses\#
        ":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"#/components/responses/ExpressPlay400"},\#
        "408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/ExpressPlay413"},"4\#
        14":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"\#
        $ref":"#/components/responses/ExpressPlay429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$r\#
        ef":"#/components/responses/ExpressPlay500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref\#
        ":"#/components/responses/Problem505"}}}},"/speke":{"x-listeners":["public"],"post":{"operationId":"exchange\#
        Keys","tags":["packagers"],"summary":"Keys by SPEKE, of the version that the field names","security":[{"pack\#
        agerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"parameters":[{"$ref":"#\#
        /components/parameters/SPEKEVersion"}],"requestBody":{"required":true,"content":{"application/xml":{"schema"\#
        :{"$ref":"#/components/schemas/CPIXDocument"},"example":"<cpix:CPIX xmlns:cpix=\"urn:dashif:org:cpix\" conte\#
        ntId=\"movie-1\" version=\"2.3\"/>"},"text/xml":{"schema":{"$ref":"#/components/schemas/CPIXDocument"}}}},"r\#
        esponses":{"200":{"$ref":"#/components/responses/FilledCPIX"},"400":{"$ref":"#/components/responses/SPEKE400\#
        "},"401":{"$ref":"#/components/responses/SPEKE401"},"403":{"$ref":"#/components/responses/SPEKE403"},"408":{\#
        "$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/responses/SPEKE409"},"413":{"$ref":"\#
        #/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Problem414"},"415":{"$ref":"#/compon\#
        ents/responses/SPEKE415"},"417":{"$ref":"#/components/responses/Problem417"},"422":{"$ref":"#/components/res\#
        ponses/SPEKE422"},"429":{"$ref":"#/components/responses/SPEKE429"},"431":{"$ref":"#/components/responses/Pro\#
        blem431"},"500":{"$ref":"#/components/responses/SPEKE500"},"501":{"$ref":"#/components/responses/Problem501"\#
        },"503":{"$ref":"#/components/responses/SPEKE503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-er\#
        ror-codes":["packager_invalid","packager_forbidden","cpix_rejected","media_type_unsupported","key_lost","rat\#
        e_limited","storage_unavailable"]}},"/speke/v1.0/copyProtection":{"x-listeners":["public"],"post":{"operatio\#
        nId":"exchangeKeysV1","tags":["packagers"],"summary":"Keys by SPEKE v1","security":[{"packagerBasic":[]},{"p\#
        ackagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"requestBody":{"required":true,"content":{\#
        "application/xml":{"schema":{"$ref":"#/components/schemas/CPIXDocument"},"example":"<cpix:CPIX xmlns:cpix=\"\#
        urn:dashif:org:cpix\" contentId=\"movie-1\" version=\"2.3\"/>"},"text/xml":{"schema":{"$ref":"#/components/s\#
        chemas/CPIXDocument"}}}},"responses":{"200":{"$ref":"#/components/responses/FilledCPIX"},"400":{"$ref":"#/co\#
        mponents/responses/SPEKE400"},"401":{"$ref":"#/components/responses/SPEKE401"},"403":{"$ref":"#/components/r\#
        esponses/SPEKE403"},"408":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/responses\#
        /SPEKE409"},"413":{"$ref":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Problem41\#
        4"},"415":{"$ref":"#/components/responses/SPEKE415"},"417":{"$ref":"#/components/responses/Problem417"},"422\#
        ":{"$ref":"#/components/responses/SPEKE422"},"429":{"$ref":"#/components/responses/SPEKE429"},"431":{"$ref":\#
        "#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/SPEKE500"},"501":{"$ref":"#/compo\#
        nents/responses/Problem501"},"503":{"$ref":"#/components/responses/SPEKE503"},"505":{"$ref":"#/components/re\#
        sponses/Problem505"}},"x-error-codes":["packager_invalid","packager_forbidden","cpix_rejected","media_type_u\#
        nsupported","key_lost","rate_limited","storage_unavailable"]}},"/speke/v2.0/copyProtection":{"x-listeners":[\#
        "public"],"post":{"operationId":"exchangeKeysV20","tags":["packagers"],"summary":"Keys by SPEKE v2.0","secur\#
        ity":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"parameters"\#
        :[{"$ref":"#/components/parameters/SPEKEVersion20"}],"requestBody":{"required":true,"content":{"application/\#
        xml":{"schema":{"$ref":"#/components/schemas/CPIXDocument"},"example":"<cpix:CPIX xmlns:cpix=\"urn:dashif:or\#
        g:cpix\" contentId=\"movie-1\" version=\"2.3\"/>"},"text/xml":{"schema":{"$ref":"#/components/schemas/CPIXDo\#
        cument"}}}},"responses":{"200":{"$ref":"#/components/responses/FilledCPIX"},"400":{"$ref":"#/components/resp\#
        onses/SPEKE400"},"401":{"$ref":"#/components/responses/SPEKE401"},"403":{"$ref":"#/components/responses/SPEK\#
        E403"},"408":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/responses/SPEKE409"},"\#
        413":{"$ref":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Problem414"},"415":{"$\#
        ref":"#/components/responses/SPEKE415"},"417":{"$ref":"#/components/responses/Problem417"},"422":{"$ref":"#/\#
        components/responses/SPEKE422"},"429":{"$ref":"#/components/responses/SPEKE429"},"431":{"$ref":"#/components\#
        /responses/Problem431"},"500":{"$ref":"#/components/responses/SPEKE500"},"501":{"$ref":"#/components/respons\#
        es/Problem501"},"503":{"$ref":"#/components/responses/SPEKE503"},"505":{"$ref":"#/components/responses/Probl\#
        em505"}},"x-error-codes":["packager_invalid","packager_forbidden","cpix_rejected","media_type_unsupported","\#
        key_lost","rate_limited","storage_unavailable"]}},"/speke/v2.1/copyProtection":{"x-listeners":["public"],"po\#
        st":{"operationId":"exchangeKeysV21","tags":["packagers"],"summary":"Keys by SPEKE v2.1","security":[{"packa\#
        gerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"parameters":[{"$ref":"#/\#
        components/parameters/SPEKEVersion21"}],"requestBody":{"required":true,"content":{"application/xml":{"schema\#
        ":{"$ref":"#/components/schemas/CPIXDocument"},"example":"<cpix:CPIX xmlns:cpix=\"urn:dashif:org:cpix\" cont\#
        entId=\"movie-1\" version=\"2.3\"/>"},"text/xml":{"schema":{"$ref":"#/components/schemas/CPIXDocument"}}}},"\#
        responses":{"200":{"$ref":"#/components/responses/FilledCPIX"},"400":{"$ref":"#/components/responses/SPEKE40\#
        0"},"401":{"$ref":"#/components/responses/SPEKE401"},"403":{"$ref":"#/components/responses/SPEKE403"},"408":\#
        {"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/responses/SPEKE409"},"413":{"$ref":\#
        "#/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Problem414"},"415":{"$ref":"#/compo\#
        nents/responses/SPEKE415"},"417":{"$ref":"#/components/responses/Problem417"},"422":{"$ref":"#/components/re\#
        sponses/SPEKE422"},"429":{"$ref":"#/components/responses/SPEKE429"},"431":{"$ref":"#/components/responses/Pr\#
        oblem431"},"500":{"$ref":"#/components/responses/SPEKE500"},"501":{"$ref":"#/components/responses/Problem501\#
        "},"503":{"$ref":"#/components/responses/SPEKE503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-e\#
        rror-codes":["packager_invalid","packager_forbidden","cpix_rejected","media_type_unsupported","key_lost","ra\#
        te_limited","storage_unavailable"]}},"/speke/v1.0/heartbeat":{"x-listeners":["public"],"get":{"operationId":\#
        "getHeartbeat","tags":["packagers"],"summary":"Whether SPEKE is served","security":[{"packagerBasic":[]},{"p\#
        ackagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"responses":{"200":{"description":"It is."\#
        ,"headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/h\#
        eaders/CacheControl"}},"content":{"text/plain; charset=utf-8":{"schema":{"const":"Latchkey serves SPEKE\n"}}\#
        }},"400":{"$ref":"#/components/responses/SPEKE400"},"401":{"$ref":"#/components/responses/SPEKE401"},"403":{\#
        "$ref":"#/components/responses/SPEKE403"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"\#
        #/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/compon\#
        ents/responses/Problem417"},"422":{"$ref":"#/components/responses/SPEKE422"},"429":{"$ref":"#/components/res\#
        ponses/SPEKE429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/S\#
        PEKE500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/SPEKE503"\#
        },"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["packager_invalid","packager_forbidde\#
        n","cpix_rejected","rate_limited","storage_unavailable"]},"head":{"operationId":"headGetHeartbeat","tags":["\#
        packagers"],"summary":"The fields of the answer to GET","security":[{"packagerBasic":[]},{"packagerBearer":[\#
        ]},{"packagerKey":[]},{"packagerCertificate":[]}],"responses":{"200":{"description":"It is.","headers":{"X-R\#
        equest-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheCont\#
        rol"}},"content":{"text/plain; charset=utf-8":{"schema":{"const":"Latchkey serves SPEKE\n"}}}},"400":{"$ref"\#
        :"#/components/responses/SPEKE400"},"401":{"$ref":"#/components/responses/SPEKE401"},"403":{"$ref":"#/compon\#
        ents/responses/SPEKE403"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/res\#
        ponses/SPEKE413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/P\#
        roblem417"},"422":{"$ref":"#/components/responses/SPEKE422"},"429":{"$ref":"#/components/responses/SPEKE429"\#
        },"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/SPEKE500"},"501":\#
        {"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/SPEKE503"},"505":{"$ref":\#
        "#/components/responses/Problem505"}},"x-error-codes":["packager_invalid","packager_forbidden","cpix_rejecte\#
        d","rate_limited","storage_unavailable"]}},"/v1/keys":{"x-listeners":["public"],"post":{"operationId":"order\#
        Keys","tags":["packagers"],"summary":"Keys of a content, made or found","security":[{"packagerBasic":[]},{"p\#
        ackagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"requestBody":{"required":true,"content":{\#
        "application/json":{"schema":{"$ref":"#/components/schemas/KeyOrder"}}}},"responses":{"200":{"description":"\#
        The keys, in the order of the tracks.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"\#
        Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref"\#
        :"#/components/schemas/DeliveredKeys"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"\#
        #/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"408":{"$ref":"#/comp\#
        onents/responses/Problem408"},"409":{"$ref":"#/components/responses/Problem409"},"413":{"$ref":"#/components\#
        /responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/respo\#
        nses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/P\#
        roblem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem\#
        501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}}\#
        ,"x-error-codes":["packager_invalid","packager_forbidden","key_conflict","key_lost","rate_limited","storage_\#
        unavailable"]}},"/v1/keys/{contentId}":{"x-listeners":["public"],"parameters":[{"$ref":"#/components/paramet\#
        ers/PathContentId"}],"get":{"operationId":"getKeys","tags":["packagers"],"summary":"The keys of a content, i\#
        n the form of a packager","security":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packag\#
        erCertificate":[]}],"parameters":[{"$ref":"#/components/parameters/KeyFormat"},{"$ref":"#/components/paramet\#
        ers/TrackLabel"},{"$ref":"#/components/parameters/Period"},{"$ref":"#/components/parameters/AfterKey"},{"$re\#
        f":"#/components/parameters/KeyLimit"}],"responses":{"200":{"description":"A page of keys.","headers":{"X-Re\#
        quest-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheContr\#
        ol"},"Link":{"$ref":"#/components/headers/Link"}},"content":{"application/json":{"schema":{"anyOf":[{"$ref":\#
        "#/components/schemas/KeyPage"},{"description":"nginx-vod: an array of one object.","type":"array","minItems\#
        ":1},{"description":"mediaconvert and bitmovin: their own objects.","type":"object","not":{"required":["cont\#
        entId","keys"]}}]}},"text/plain; charset=utf-8":{"schema":{"description":"shaka, bento4, bento4-dash, bento4\#
        -hls, wowza, usp and hls.","type":"string"}},"application/yaml":{"schema":{"description":"shaka-streamer.","\#
        type":"string"}},"application/xml":{"schema":{"description":"gpac and cpix.","type":"string"}},"application/\#
        octet-stream":{"schema":{"description":"mediafilesegmenter: 16 bytes of key, 16 of vector.","type":"string",\#
        "contentMediaType":"application/octet-stream"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{\#
        "$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$ref"\#
        :"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/co\#
        mponents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/componen\#
        ts/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/res\#
        ponses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses\#
        /Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Probl\#
        em505"}},"x-error-codes":["key_not_found","packager_invalid","packager_forbidden","rate_limited","storage_un\#
        available","not_found"]},"head":{"operationId":"headGetKeys","tags":["packagers"],"summary":"The fields of t\#
        he answer to GET","security":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertif\#
        icate":[]}],"parameters":[{"$ref":"#/components/parameters/KeyFormat"},{"$ref":"#/components/parameters/Trac\#
        kLabel"},{"$ref":"#/components/parameters/Period"},{"$ref":"#/components/parameters/AfterKey"},{"$ref":"#/co\#
        mponents/parameters/KeyLimit"}],"responses":{"200":{"description":"A page of keys.","headers":{"X-Request-Id\#
        ":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"},"Li\#
        nk":{"$ref":"#/components/headers/Link"}},"content":{"application/json":{"schema":{"anyOf":[{"$ref":"#/compo\#
        nents/schemas/KeyPage"},{"description":"nginx-vod: an array of one object.","type":"array","minItems":1},{"d\#
        escription":"mediaconvert and bitmovin: their own objects.","type":"object","not":{"required":["contentId","\#
        keys"]}}]}},"text/plain; charset=utf-8":{"schema":{"description":"shaka, bento4, bento4-dash, bento4-hls, wo\#
        wza, usp and hls.","type":"string"}},"application/yaml":{"schema":{"description":"shaka-streamer.","type":"s\#
        tring"}},"application/xml":{"schema":{"description":"gpac and cpix.","type":"string"}},"application/octet-st\#
        ream":{"schema":{"description":"mediafilesegmenter: 16 bytes of key, 16 of vector.","type":"string","content\#
        MediaType":"application/octet-stream"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"\#
        #/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$ref":"#/comp\#
        onents/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components\#
        /responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/respo\#
        nses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/P\#
        roblem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem\#
        501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}}\#
        ,"x-error-codes":["key_not_found","packager_invalid","packager_forbidden","rate_limited","storage_unavailabl\#
        e","not_found"]}},"/metrics":{"x-listeners":["admin"],"get":{"operationId":"getMetrics","tags":["administrat\#
        ion"],"summary":"Metrics for Prometheus","security":[{"adminToken":[]}],"responses":{"200":{"description":"T\#
        he text format 0.0.4.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{\#
        "$ref":"#/components/headers/CacheControl"}},"content":{"text/plain; version=0.0.4; charset=utf-8":{"schema"\#
        :{"type":"string","pattern":"^# HELP "}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":\#
        "#/components/responses/Problem401"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/com\#
        ponents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/component\#
        s/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/resp\#
        onses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/\#
        Problem501"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","rat\#
        e_limited"]},"head":{"operationId":"headGetMetrics","tags":["administration"],"summary":"The fields of the a\#
        nswer to GET","security":[{"adminToken":[]}],"responses":{"200":{"description":"The text format 0.0.4.","hea\#
        ders":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/header\#
        s/CacheControl"}},"content":{"text/plain; version=0.0.4; charset=utf-8":{"schema":{"type":"string","pattern"\#
        :"^# HELP "}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/responses/Pro\#
        blem401"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem41\#
        3"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"4\#
        29":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"\#
        $ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":\#
        "#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","rate_limited"]}},"/v1/explain"\#
        :{"x-listeners":["admin"],"post":{"operationId":"explain","tags":["administration"],"summary":"Every check o\#
        f a token and an SPC, and the terms that would follow","security":[{"adminToken":[]}],"requestBody":{"requir\#
        ed":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/ExplainQuestion"}}}},"respons\#
        es":{"200":{"description":"The explanation. Nothing is issued.","headers":{"X-Request-Id":{"$ref":"#/compone\#
        nts/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"applicatio\#
        n/json":{"schema":{"$ref":"#/components/schemas/Explanation"}}}},"400":{"$ref":"#/components/responses/Probl\#
        em400"},"401":{"$ref":"#/components/responses/Problem401"},"408":{"$ref":"#/components/responses/Problem408"\#
        },"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417\#
        ":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$r\#
        ef":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#\#
        /components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["adm\#
        in_token_invalid","rate_limited"]}},"/v1/revocations":{"x-listeners":["admin"],"get":{"operationId":"listRev\#
        ocations","tags":["administration"],"summary":"What is revoked, the latest first","security":[{"adminToken":\#
        []}],"responses":{"200":{"description":"At most 1,000 revocations.","headers":{"X-Request-Id":{"$ref":"#/com\#
        ponents/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"applic\#
        ation/json":{"schema":{"$ref":"#/components/schemas/Revocations"}}}},"400":{"$ref":"#/components/responses/P\#
        roblem400"},"401":{"$ref":"#/components/responses/Problem401"},"404":{"$ref":"#/components/responses/Problem\#
        404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},\#
        "414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":\#
        {"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref\#
        ":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/c\#
        omponents/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["admin\#
        _token_invalid","rate_limited","storage_unavailable","not_found"]},"head":{"operationId":"headListRevocation\#
        s","tags":["administration"],"summary":"The fields of the answer to GET","security":[{"adminToken":[]}],"res\#
        ponses":{"200":{"description":"At most 1,000 revocations.","headers":{"X-Request-Id":{"$ref":"#/components/h\#
        eaders/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/jso\#
        n":{"schema":{"$ref":"#/components/schemas/Revocations"}}}},"400":{"$ref":"#/components/responses/Problem400\#
        "},"401":{"$ref":"#/components/responses/Problem401"},"404":{"$ref":"#/components/responses/Problem404"},"40\#
        8":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$\#
        ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"\#
        #/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/comp\#
        onents/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components\#
        /responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["admin_token_in\#
        valid","rate_limited","storage_unavailable","not_found"]},"post":{"operationId":"revoke","tags":["administra\#
        tion"],"summary":"Revokes a token, a key, an issuer, a subject, a device, a content or a session","security"\#
        :[{"adminToken":[]}],"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/compo\#
        nents/schemas/RevocationOrder"}}}},"responses":{"200":{"description":"It holds on this node.","headers":{"X-\#
        Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheCon\#
        trol"}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas/RevocationAdded"}}}},"400":{"$\#
        ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"404":{"$ref":"\#
        #/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/comp\#
        onents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components\#
        /responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/respo\#
        nses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/P\#
        roblem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem\#
        505"}},"x-error-codes":["admin_token_invalid","rate_limited","storage_unavailable","not_found"]},"delete":{"\#
        operationId":"liftRevocation","tags":["administration"],"summary":"Gives back what was revoked","security":[\#
        {"adminToken":[]}],"parameters":[{"$ref":"#/components/parameters/RevocationKind"},{"$ref":"#/components/par\#
        ameters/RevocationValue"},{"$ref":"#/components/parameters/RevocationIssuer"}],"responses":{"200":{"descript\#
        ion":"What was given back.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Contr\#
        ol":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":"#/compone\#
        nts/schemas/Revocation"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/r\#
        esponses/Problem401"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/respons\#
        es/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Pro\#
        blem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem42\#
        9"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"5\#
        01":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"\#
        $ref":"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","rate_limited","storage_u\#
        navailable","not_found"]}},"/v1/refusals/{requestId}":{"x-listeners":["admin"],"parameters":[{"$ref":"#/comp\#
        onents/parameters/PathRequestId"}],"get":{"operationId":"getRefusal","tags":["administration"],"summary":"Wh\#
        y a request was refused","security":[{"adminToken":[]}],"responses":{"200":{"description":"The refusal, if i\#
        t is among the last 10,000.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Cont\#
        rol":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":"#/compon\#
        ents/schemas/Refusal"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/res\#
        ponses/Problem401"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses\#
        /Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Probl\#
        em414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"\#
        },"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501\#
        ":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-\#
        codes":["admin_token_invalid","rate_limited","not_found"]},"head":{"operationId":"headGetRefusal","tags":["a\#
        dministration"],"summary":"The fields of the answer to GET","security":[{"adminToken":[]}],"responses":{"200\#
        ":{"description":"The refusal, if it is among the last 10,000.","headers":{"X-Request-Id":{"$ref":"#/compone\#
        nts/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"applicatio\#
        n/json":{"schema":{"$ref":"#/components/schemas/Refusal"}}}},"400":{"$ref":"#/components/responses/Problem40\#
        0"},"401":{"$ref":"#/components/responses/Problem401"},"404":{"$ref":"#/components/responses/Problem404"},"4\#
        08":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"\#
        $ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":\#
        "#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/com\#
        ponents/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/component\#
        s/responses/Problem505"}},"x-error-codes":["admin_token_invalid","rate_limited","not_found"]}},"/v1/devices"\#
        :{"x-listeners":["admin"],"get":{"operationId":"listDevices","tags":["administration"],"summary":"The device\#
        s of a subject","security":[{"adminToken":[]}],"parameters":[{"$ref":"#/components/parameters/Subject"},{"$r\#
        ef":"#/components/parameters/Issuer"},{"$ref":"#/components/parameters/Cookie"},{"$ref":"#/components/parame\#
        ters/Customer"},{"$ref":"#/components/parameters/PageLimit"},{"$ref":"#/components/parameters/After"}],"resp\#
        onses":{"200":{"description":"A page.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"\#
        Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref"\#
        :"#/components/schemas/DevicesPage"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/\#
        components/responses/Problem401"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/compon\#
        ents/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/r\#
        esponses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/respons\#
        es/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Pro\#
        blem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem50\#
        3"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","rate_limited\#
        ","storage_unavailable","not_found"]},"head":{"operationId":"headListDevices","tags":["administration"],"sum\#
        mary":"The fields of the answer to GET","security":[{"adminToken":[]}],"parameters":[{"$ref":"#/components/p\#
        arameters/Subject"},{"$ref":"#/components/parameters/Issuer"},{"$ref":"#/components/parameters/Cookie"},{"$r\#
        ef":"#/components/parameters/Customer"},{"$ref":"#/components/parameters/PageLimit"},{"$ref":"#/components/p\#
        arameters/After"}],"responses":{"200":{"description":"A page.","headers":{"X-Request-Id":{"$ref":"#/componen\#
        ts/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application\#
        /json":{"schema":{"$ref":"#/components/schemas/DevicesPage"}}}},"400":{"$ref":"#/components/responses/Proble\#
        m400"},"401":{"$ref":"#/components/responses/Problem401"},"404":{"$ref":"#/components/responses/Problem404"}\#
        ,"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414"\#
        :{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$re\#
        f":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/\#
        components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/compon\#
        ents/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["admin_toke\#
        n_invalid","rate_limited","storage_unavailable","not_found"]},"delete":{"operationId":"changeDevices","tags"\#
        :["administration"],"summary":"Removes devices","description":"The query names the subject, and takes `all=t\#
        rue` or one of the others.","security":[{"adminToken":[]}],"parameters":[{"$ref":"#/components/parameters/Su\#
        bject"},{"$ref":"#/components/parameters/Issuer"},{"$ref":"#/components/parameters/Cookie"},{"$ref":"#/compo\#
        nents/parameters/Customer"},{"$ref":"#/components/parameters/All"},{"$ref":"#/components/parameters/DeviceNa\#
        me"}],"responses":{"200":{"description":"What was found and changed.","headers":{"X-Request-Id":{"$ref":"#/c\#
        omponents/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"appl\#
        ication/json":{"schema":{"$ref":"#/components/schemas/DevicesPage"}}}},"400":{"$ref":"#/components/responses\#
        /Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"404":{"$ref":"#/components/responses/Probl\#
        em404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"\#
        },"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429\#
        ":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$r\#
        ef":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#\#
        /components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["adm\#
        in_token_invalid","rate_limited","storage_unavailable","not_found"]}},"/v1/playbacks":{"x-listeners":["admin\#
        "],"get":{"operationId":"listPlaybacks","tags":["administration"],"summary":"The playbacks of a subject","se\#
        curity":[{"adminToken":[]}],"parameters":[{"$ref":"#/components/parameters/Subject"},{"$ref":"#/components/p\#
        arameters/Issuer"},{"$ref":"#/components/parameters/Cookie"},{"$ref":"#/components/parameters/Customer"},{"$\#
        ref":"#/components/parameters/PageLimit"},{"$ref":"#/components/parameters/After"}],"responses":{"200":{"des\#
        cription":"A page.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$r\#
        ef":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":"#/components/sche\#
        mas/PlaybacksPage"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/respon\#
        ses/Problem401"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Pr\#
        oblem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem4\#
        14"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"\#
        431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{\#
        "$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref"\#
        :"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","rate_limited","storage_unavai\#
        lable","not_found"]},"head":{"operationId":"headListPlaybacks","tags":["administration"],"summary":"The fiel\#
        ds of the answer to GET","security":[{"adminToken":[]}],"parameters":[{"$ref":"#/components/parameters/Subje\#
        ct"},{"$ref":"#/components/parameters/Issuer"},{"$ref":"#/components/parameters/Cookie"},{"$ref":"#/componen\#
        ts/parameters/Customer"},{"$ref":"#/components/parameters/PageLimit"},{"$ref":"#/components/parameters/After\#
        "}],"responses":{"200":{"description":"A page.","headers":{"X-Request-Id":{"$ref":"#/components/headers/Requ\#
        estId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema\#
        ":{"$ref":"#/components/schemas/PlaybacksPage"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":\#
        {"$ref":"#/components/responses/Problem401"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref\#
        ":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/c\#
        omponents/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/compone\#
        nts/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/re\#
        sponses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/response\#
        s/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","r\#
        ate_limited","storage_unavailable","not_found"]},"delete":{"operationId":"changePlaybacks","tags":["administ\#
        ration"],"summary":"Ends playbacks","description":"The query names the subject, and takes `all=true` or on\#
        e of the others.","security":[{"adminToken":[]}],"parameters":[{"$ref":"#/components/parameters/Subject"},{"\#
        $ref":"#/components/parameters/Issuer"},{"$ref":"#/components/parameters/Cookie"},{"$ref":"#/components/para\#
        meters/Customer"},{"$ref":"#/components/parameters/All"},{"$ref":"#/components/parameters/PlaybackName"},{"$\#
        ref":"#/components/parameters/DeviceName"},{"$ref":"#/components/parameters/ContentName"}],"responses":{"200\#
        ":{"description":"What was found and changed.","headers":{"X-Request-Id":{"$ref":"#/components/headers/Reque\#
        stId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema"\#
        :{"$ref":"#/components/schemas/PlaybacksPage"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{\#
        "$ref":"#/components/responses/Problem401"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref"\#
        :"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/co\#
        mponents/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/componen\#
        ts/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/res\#
        ponses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses\#
        /Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","ra\#
        te_limited","storage_unavailable","not_found"]}},"/v1/rentals":{"x-listeners":["admin"],"get":{"operationId"\#
        :"listRentals","tags":["administration"],"summary":"The rentals of a subject","security":[{"adminToken":[]}]\#
        ,"parameters":[{"$ref":"#/components/parameters/Subject"},{"$ref":"#/components/parameters/Issuer"},{"$ref":\#
        "#/components/parameters/Cookie"},{"$ref":"#/components/parameters/Customer"},{"$ref":"#/components/paramete\#
        rs/PageLimit"},{"$ref":"#/components/parameters/After"}],"responses":{"200":{"description":"A page.","header\#
        s":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/C\#
        acheControl"}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas/RentalsPage"}}}},"400":\#
        {"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"404":{"$ref\#
        ":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/c\#
        omponents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/compone\#
        nts/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/re\#
        sponses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/response\#
        s/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Prob\#
        lem505"}},"x-error-codes":["admin_token_invalid","rate_limited","storage_unavailable","not_found"]},"head":{\#
        "operationId":"headListRentals","tags":["administration"],"summary":"The fields of the answer to GET","secur\#
        ity":[{"adminToken":[]}],"parameters":[{"$ref":"#/components/parameters/Subject"},{"$ref":"#/components/para\#
        meters/Issuer"},{"$ref":"#/components/parameters/Cookie"},{"$ref":"#/components/parameters/Customer"},{"$ref\#
        ":"#/components/parameters/PageLimit"},{"$ref":"#/components/parameters/After"}],"responses":{"200":{"descri\#
        ption":"A page.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref"\#
        :"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas\#
        /RentalsPage"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/responses/P\#
        roblem401"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem\#
        408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},\#
        "417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":\#
        {"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref\#
        ":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/c\#
        omponents/responses/Problem505"}},"x-error-codes":["admin_token_invalid","rate_limited","storage_unavailable\#
        ","not_found"]},"delete":{"operationId":"changeRentals","tags":["administration"],"summary":"Forgets rentals\#
        ","description":"The query names the subject, and takes `all=true` or one of the others.","security":[{"admi\#
        nToken":[]}],"parameters":[{"$ref":"#/components/parameters/Subject"},{"$ref":"#/components/parameters/Issue\#
        r"},{"$ref":"#/components/parameters/Cookie"},{"$ref":"#/components/parameters/Customer"},{"$ref":"#/compone\#
        nts/parameters/All"},{"$ref":"#/components/parameters/ContentName"}],"responses":{"200":{"description":"Wha\#
        t was found and changed.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control\#
        ":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":"#/component\#
        s/schemas/RentalsPage"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/re\#
        sponses/Problem401"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/response\#
        s/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Prob\#
        lem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429\#
        "},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"50\#
        1":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$\#
        ref":"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","rate_limited","storage_un\#
        available","not_found"]}}},"components":{"securitySchemes":{"token":{"type":"http","scheme":"bearer","bearer\#
        Format":"JWT","description":"A token of a configured issuer, or the session token of the licence before."},"\#
        nvAuthorizations":{"type":"apiKey","in":"header","name":"nv-authorizations","description":"The same in NAGRA\#
        's header: up to eight tokens with commas between. Refusals are then in NAGRA's manner."},"axinomMessage":{"\#
        type":"apiKey","in":"header","name":"X-AxDRM-Message","description":"The same in Axinom's header."},"axinomQ\#
        uery":{"type":"apiKey","in":"query","name":"AxDrmMessage","description":"The same in Axinom's query."},"drmT\#
        oday":{"type":"apiKey","in":"header","name":"x-dt-auth-token","description":"The same in castLabs' header."}\#
        ,"drmCloud":{"type":"apiKey","in":"header","name":"X-Drm-UserToken","description":"The same in drm.cloud's h\#
        eader."},"expressPlayToken":{"type":"apiKey","in":"header","name":"ExpressPlayToken","description":"The sam\#
        e in ExpressPlay's header."},"expressPlayQuery":{"type":"apiKey","in":"query","name":"ExpressPlayToken","des\#
        cription":"The same in ExpressPlay's query."},"tokenQuery":{"type":"apiKey","in":"query","name":"token","des\#
        cription":"The same in the query."},"userTokenQuery":{"type":"apiKey","in":"query","name":"UserToken","descr\#
        iption":"The same in the query."},"drmTokenQuery":{"type":"apiKey","in":"query","name":"drm_token","descript\#
        ion":"The same in the query."},"packagerBasic":{"type":"http","scheme":"basic","description":"The packager'\#
        s name and secret."},"packagerBearer":{"type":"http","scheme":"bearer","description":"The packager's secret.\#
        "},"packagerKey":{"type":"apiKey","in":"header","name":"x-api-key","description":"The packager's secret."},"\#
        packagerCertificate":{"type":"mutualTLS","description":"A client certificate that is configured for the pack\#
        ager."},"customerAuthenticator":{"type":"apiKey","in":"query","name":"customerAuthenticator","description":"\#
        The authenticator of a customer, which may be a member of the form instead."},"entitlementServer":{"type":"h\#
        ttp","scheme":"bearer","description":"The secret of `expressPlay.sees`."},"entitlementServerCertificate":{"t\#
        ype":"mutualTLS","description":"A client certificate that `expressPlay.sees.clients` names."},"adminToken":{\#
        "type":"http","scheme":"bearer","description":"A token of the admin listener. A loopback listener without on\#
        e answers every process of its machine, but not revocations and accounts."}},"parameters":{"Offline":{"name"\#
        :"offline","in":"query","description":"Asks for a licence that the device may keep (`1`, `true`, or nothing)\#
        , or may not.","schema":{"enum":["","0","1","true","false"]},"example":"1","allowEmptyValue":true},"Renew":{\#
        "name":"renew","in":"query","description":"Says that the request renews a licence.","schema":{"enum":["","0"\#
        ,"1","true","false"]},"example":"true","allowEmptyValue":true},"Previous":{"name":"previous","in":"query","d\#
        escription":"The id of the licence that is renewed, as `X-License-Id` had it.","schema":{"type":"string"}},"\#
        Format":{"name":"format","in":"query","description":"The shape of the answer. Without it the path, `Accept\#
        ` and the shape of the request decide.","schema":{"enum":["raw","base64","ckc","json","kaltura","nagra"]},"e\#
        xample":"json"},"AssetId":{"name":"assetId","in":"query","description":"Names the key. A hint only: the SP\#
        C decides, and a name of another key is refused.","schema":{"type":"string"}},"ContentIdHint":{"name":"conte\#
        ntId","in":"query","description":"Names the key. A hint only: the SPC decides, and a name of another key i\#
        s refused.","schema":{"type":"string"}},"KIDHint":{"name":"KID","in":"query","description":"Names the key\#
        . A hint only: the SPC decides, and a name of another key is refused.","schema":{"type":"string"}},"VideoId"\#
        :{"name":"videoId","in":"query","description":"Names the key. A hint only: the SPC decides, and a name of an\#
        other key is refused.","schema":{"type":"string"}},"KIDField":{"name":"KID","in":"header","description":"Nam\#
        es the key, as the parameters of the query do.","schema":{"type":"string"}},"RenewField":{"name":"X-License-\#
        Renew","in":"header","description":"`1` says the same as `renew=true`.","schema":{"type":"string"},"example"\#
        :"1"},"Credential":{"name":"credential","in":"query","description":"The credential's name; the first one unl\#
        ess given.","schema":{"type":"string"},"example":"main"},"Size":{"name":"size","in":"query","description":"O\#
        ne of the two certificates; the bundle of both unless given.","schema":{"enum":["1024","2048"]},"example":"2\#
        048"},"CertificateFormat":{"name":"format","in":"query","description":"How the certificate is written.","sch\#
        ema":{"enum":["raw","base64","pem","json"]},"example":"pem"},"IfNoneMatch":{"name":"If-None-Match","in":"hea\#
        der","description":"The entity tags that the client has.","schema":{"type":"string"}},"PathKeyId":{"name":"k\#
        id","in":"path","required":true,"description":"Names the key: a hint, 2 to 1,024 bytes.","schema":{"type":"s\#
        tring","minLength":2,"maxLength":1024},"example":"movie-42"},"Prefix":{"name":"prefix","in":"path","required\#
        ":true,"description":"One segment or more, which say nothing.","schema":{"type":"string","minLength":1},"exa\#
        mple":"tenant"},"PathContentId":{"name":"contentId","in":"path","required":true,"description":"The content i\#
        d, percent-encoded: 1 to 200 printable ASCII characters without space.","schema":{"type":"string","pattern":\#
        "^[!-~]{1,200}$"},"example":"movie-42"},"PathRequestId":{"name":"requestId","in":"path","required":true,"des\#
        cription":"The id of a refused request, as `X-Request-Id` had it.","schema":{"type":"string","minLength":1},\#
        "example":"5f0c2b7e91d3a846"},"KeyFormat":{"name":"format","in":"query","description":"The form of a package\#
        r.","schema":{"enum":["json","shaka","shaka-streamer","bento4","bento4-dash","bento4-hls","gpac","nginx-vod"\#
        ,"wowza","usp","mediaconvert","bitmovin","mediafilesegmenter","cpix","hls"]},"example":"shaka"},"TrackLabel"\#
        :{"name":"track","in":"query","description":"Only keys of this label.","schema":{"type":"string","minLength"\#
        :1,"maxLength":64,"pattern":"^[!-~]*$"},"example":"HD"},"Period":{"name":"period","in":"query","description"\#
        :"Only keys of this period.","schema":{"type":"integer","minimum":0,"maximum":4294967295},"example":7},"Afte\#
        rKey":{"name":"after","in":"query","description":"The key id behind which the page begins.","schema":{"type"\#
        :"string","format":"uuid"}},"KeyLimit":{"name":"limit","in":"query","description":"How many keys a page has.\#
        ","schema":{"type":"integer","minimum":1,"maximum":64},"example":64},"Subject":{"name":"subject","in":"query\#
        ","description":"The subject of tokens, or its pseudonym as lists show it.","schema":{"type":"string","minLe\#
        ngth":1,"maxLength":200},"example":"viewer-7"},"Issuer":{"name":"issuer","in":"query","description":"The iss\#
        uer of the subject. It may be left out if there is only one.","schema":{"type":"string"}},"Cookie":{"name":"\#
        cookie","in":"query","description":"A `customerCookie` of ExpressPlay, in place of `subject`.","schema":{"ty\#
        pe":"string","minLength":1,"maxLength":32}},"Customer":{"name":"customer","in":"query","description":"The cu\#
        stomer of the cookie.","schema":{"type":"string"}},"PageLimit":{"name":"limit","in":"query","description":"H\#
        ow many elements a page has; 100 unless given.","schema":{"type":"integer","minimum":1,"maximum":1000},"exam\#
        ple":100},"After":{"name":"after","in":"query","description":"`next` of the page before.","schema":{"type":"\#
        string"}},"All":{"name":"all","in":"query","description":"Selects everything of the subject.","schema":{"con\#
        st":"true"},"example":"true"},"DeviceName":{"name":"device","in":"query","description":"The device: its HU\#
        , or its pseudonym as a list shows it.","schema":{"type":"string"}},"PlaybackName":{"name":"playback","in":"\#
        query","description":"The playback, as a list shows it.","schema":{"type":"string"}},"ContentName":{"name":"\#
        content","in":"query","description":"The content.","schema":{"type":"string"}},"RevocationKind":{"name":"kin\#
        d","in":"query","description":"What kind of value is given back.","schema":{"enum":["jti","kid","iss","sub",\#
        "hu","device","content","session"]},"required":true,"example":"sub"},"RevocationValue":{"name":"value","in":\#
        "query","description":"The value, as a list shows it.","schema":{"type":"string","minLength":1,"maxLength":2\#
        00},"required":true,"example":"viewer-7"},"RevocationIssuer":{"name":"issuer","in":"query","description":"Th\#
        e issuer of a `jti`, `sub`, `device` or `session`. It may be left out if there is only one.","schema":{"type\#
        ":"string"}},"SPEKEVersion":{"name":"X-Speke-Version","in":"header","description":"The version of SPEKE, wit\#
        h which path and document must agree. SPEKE v1 has no such field.","schema":{"enum":["2.0","2.1"]},"example"\#
        :"2.0"},"FormErrorFormat":{"name":"errorFormat","in":"query","description":"As the member `errorFormat` of t\#
        he form.","schema":{"enum":["html","json"]}},"FormGeneralFlags":{"name":"generalFlags","in":"query","descrip\#
        tion":"As the member `generalFlags` of the form.","schema":{"type":"string","pattern":"^([0-9A-Fa-f]{4}|[0-9\#
        A-Fa-f]{8})$"}},"FormContentKey":{"name":"contentKey","in":"query","description":"As the member `contentKey\#
        ` of the form.","schema":{"type":"string","pattern":"^[0-9A-Fa-f]{32}$"}},"FormKek":{"name":"kek","in":"quer\#
        y","description":"As the member `kek` of the form.","schema":{"type":"string","pattern":"^([0-9A-Fa-f]{32}|[\#
        0-9A-Fa-f]{48}|[0-9A-Fa-f]{64})$"}},"FormEk":{"name":"ek","in":"query","description":"As the member `ek` o\#
        f the form.","schema":{"type":"string","pattern":"^[0-9A-Fa-f]{48}$"}},"FormKid":{"name":"kid","in":"query",\#
        "description":"As the member `kid` of the form.","schema":{"type":"string","pattern":"^([0-9A-Fa-f]{32}|\\^[\#
        !-~]{1,64})$"}},"FormIv":{"name":"iv","in":"query","description":"As the member `iv` of the form.","schema":\#
        {"type":"string","pattern":"^[0-9A-Fa-f]{32}$"}},"FormRentalDuration":{"name":"rentalDuration","in":"query",\#
        "description":"As the member `rentalDuration` of the form.","schema":{"type":"integer","minimum":0,"maximum"\#
        :4294967294}},"FormFpExtension":{"name":"fpExtension","in":"query","description":"As the member `fpExtension\#
        ` of the form.","schema":{"type":"string"}},"FormExpirationTime":{"name":"expirationTime","in":"query","desc\#
        ription":"RFC 3339 in UTC, or `+` and seconds; 30 days at most.","schema":{"type":"string"}},"FormCookie":{"\#
        name":"cookie","in":"query","description":"As the member `cookie` of the form.","schema":{"type":"string","m\#
        axLength":32}},"FormLatchkeylease":{"name":"latchkey.lease","in":"query","description":"As the member `latch\#
        key.lease` of the form.","schema":{"type":"integer","minimum":1,"maximum":4294967294}},"FormLatchkeydevice":\#
        {"name":"latchkey.device","in":"query","description":"As the member `latchkey.device` of the form.","schema"\#
        :{"type":"string"}},"FormLatchkeybind":{"name":"latchkey.bind","in":"query","description":"As the member `la\#
        tchkey.bind` of the form.","schema":{"enum":["first","none"]}},"FormLatchkeyuses":{"name":"latchkey.uses","i\#
        n":"query","description":"As the member `latchkey.uses` of the form.","schema":{"type":"integer","minimum":1\#
        ,"maximum":4294967295}},"FormLatchkeyhdcp":{"name":"latchkey.hdcp","in":"query","description":"As the membe\#
        r `latchkey.hdcp` of the form.","schema":{"enum":["none","type0","type1"]}},"FormRightsType":{"name":"rights\#
        Type","in":"query","description":"As the member `rightsType` of the form.","schema":{"enum":["BuyToOwn","Ren\#
        tal"]}},"FormRentalperiodEndTime":{"name":"rental.periodEndTime","in":"query","description":"As the member `\#
        rental.periodEndTime` of the form.","schema":{"type":"string"}},"FormRentalplayDuration":{"name":"rental.pla\#
        yDuration","in":"query","description":"As the member `rental.playDuration` of the form.","schema":{"type":"i\#
        nteger","minimum":0}},"FormAnalogVideoOPL":{"name":"analogVideoOPL","in":"query","description":"As the membe\#
        r `analogVideoOPL` of the form.","schema":{"type":"integer","minimum":0,"maximum":999}},"FormCompressedDigit\#
        alAudioOPL":{"name":"compressedDigitalAudioOPL","in":"query","description":"As the member `compressedDigital\#
        AudioOPL` of the form.","schema":{"type":"integer","minimum":0,"maximum":999}},"FormCompressedDigitalVideoOP\#
        L":{"name":"compressedDigitalVideoOPL","in":"query","description":"As the member `compressedDigitalVideoOPL\#
        ` of the form.","schema":{"type":"integer","minimum":0,"maximum":999}},"FormUncompressedDigitalAudioOPL":{"n\#
        ame":"uncompressedDigitalAudioOPL","in":"query","description":"As the member `uncompressedDigitalAudioOPL` o\#
        f the form.","schema":{"type":"integer","minimum":0,"maximum":999}},"FormUncompressedDigitalVideoOPL":{"name\#
        ":"uncompressedDigitalVideoOPL","in":"query","description":"As the member `uncompressedDigitalVideoOPL` of t\#
        he form.","schema":{"type":"integer","minimum":0,"maximum":999}},"FormPrFlag":{"name":"prFlag","in":"query",\#
        "description":"As the member `prFlag` of the form.","schema":{"type":"string","pattern":"^[0-9A-Fa-f]{8}$"}}\#
        ,"FormUseHttps":{"name":"useHttps","in":"query","description":"As the member `useHttps` of the form.","schem\#
        a":{"enum":["true","false","1","0"]}},"SPEKEVersion20":{"name":"X-Speke-Version","in":"header","required":tr\#
        ue,"description":"The version of SPEKE.","schema":{"const":"2.0"},"example":"2.0"},"SPEKEVersion21":{"name":\#
        "X-Speke-Version","in":"header","required":true,"description":"The version of SPEKE.","schema":{"const":"2.1\#
        "},"example":"2.1"}},"requestBodies":{"LicenceRequest":{"description":"An SPC in any shape that players send\#
        . The body alone decides what it is; of `Content-Type` only the boundary of a multipart body is read.","requ\#
        ired":true,"content":{"application/octet-stream":{"schema":{"$ref":"#/components/schemas/SPC"}},"application\#
        /x-www-form-urlencoded":{"schema":{"$ref":"#/components/schemas/LicenceForm"}},"multipart/form-data":{"schem\#
        a":{"$ref":"#/components/schemas/LicenceParts"}},"text/plain":{"schema":{"$ref":"#/components/schemas/Base64\#
        SPC"},"example":"AAAAAQ=="},"application/json":{"schema":{"anyOf":[{"$ref":"#/components/schemas/LicenceObje\#
        ct"},{"$ref":"#/components/schemas/GetFairplayLicense"},{"$ref":"#/components/schemas/KeyRequestArray"},{"$r\#
        ef":"#/components/schemas/StreamingKeysRequest"}]}},"application/x-plist":{"schema":{"$ref":"#/components/sc\#
        hemas/SessionReport"}},"text/xml":{"schema":{"$ref":"#/components/schemas/PropertyListText"}}}}},"headers":{\#
        "RequestId":{"description":"The id of the request, by which the log and `GET /v1/refusals/{requestId}` kno\#
        w it.","required":true,"schema":{"type":"string","pattern":"^[0-9a-f]{16}$"},"example":"5f0c2b7e91d3a846"},"\#
        ErrorCode":{"description":"The code of the refusal, for clients that drop bodies. At addresses of ExpressPla\#
        y's back ends it may be ExpressPlay's number.","required":false,"schema":{"type":"string","minLength":1},"ex\#
        ample":"token_missing"},"Challenge":{"description":"Which credentials are accepted: `Bearer`, and for packag\#
        ers `Basic`.","schema":{"type":"string"},"example":"Bearer"},"RetryAfter":{"description":"The least wait i\#
        n seconds. Not every refusal has one.","schema":{"type":"integer","minimum":0},"example":2},"CacheControl":{\#
        "description":"How long caches may keep the answer.","schema":{"type":"string"},"example":"no-store"},"Licen\#
        seId":{"description":"The id of the licence.","schema":{"type":"string"},"example":"AZq0Zk1vcPOBkXvS0hE8nQ"}\#
        ,"LicenseType":{"description":"The validity of the licence.","schema":{"type":"string"},"example":"lease"},"\#
        LicenseIssued":{"description":"When the licence was issued, in seconds since 1970.","schema":{"type":"intege\#
        r"},"example":1769860800},"LicenseExpires":{"description":"When the licence ends, in seconds since 1970. Abs\#
        ent if it has no end.","schema":{"type":"integer"},"example":1769861100},"LicenseRenewAfter":{"description":\#
        "When to ask for a renewal, in seconds since 1970. Absent if there is nothing to renew.","schema":{"type":"i\#
        nteger"},"example":1769861000},"SessionToken":{"description":"The token to present for the next renewal. Abs\#
        ent if there is nothing to renew.","schema":{"type":"string"}},"ETag":{"description":"A strong entity tag, w\#
        hich differs from format to format.","schema":{"type":"string"},"example":"\"0f3a\""},"Link":{"description":\#
        "The address of the next page with `rel=\"next\"`. Absent on the last page.","schema":{"type":"string"}},"Al\#
        low":{"description":"The methods of the address.","schema":{"type":"string"},"example":"GET, HEAD, OPTIONS"}\#
        ,"AllowOrigin":{"description":"The origins whose pages may read the answer. Absent for other origins.","sche\#
        ma":{"type":"string"}},"SPEKEVersion":{"description":"The version of SPEKE. Absent for SPEKE v1.","schema":{\#
        "enum":["2.0","2.1"]},"example":"2.0"},"SPEKEUserAgent":{"description":"The name of this server. SPEKE v1 ca\#
        lls the field `Speke-User-Agent`.","schema":{"type":"string"}}},"responses":{"Certificate":{"description":"T\#
        he certificates, in the form that the query or the path names.","headers":{"X-Request-Id":{"$ref":"#/compone\#
        nts/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"},"ETag":{"$ref":"#/compo\#
        nents/headers/ETag"}},"content":{"application/octet-stream":{"schema":{"description":"DER; of a bundle one b\#
        ehind the other.","type":"string","contentMediaType":"application/octet-stream"}},"text/plain; charset=utf-8\#
        ":{"schema":{"$ref":"#/components/schemas/CertificateBase64"}},"application/x-pem-file":{"schema":{"type":"s\#
        tring","pattern":"^-----BEGIN CERTIFICATE-----"}},"application/json":{"schema":{"type":"object","required":[\#
        "certificate"],"properties":{"certificate":{"type":"string","contentEncoding":"base64","minLength":1}},"addi\#
        tionalProperties":false}}}},"CertificateNotModified":{"description":"The client has this certificate.","head\#
        ers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers\#
        /CacheControl"},"ETag":{"$ref":"#/components/headers/ETag"}}},"ExpressPlay400":{"description":"The request i\#
        s not one that is read here.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-C\#
        ode":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/c\#
        omponents/schemas/Problem400"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/ExpressPl\#
        ayPage"}},"application/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},"ExpressPlay401":\#
        {"description":"The credential is missing, or proves too little.","headers":{"X-Request-Id":{"$ref":"#/compo\#
        nents/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"WWW-Authenticate":{"$ref\#
        ":"#/components/headers/Challenge"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/s\#
        chemas/Problem401"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"\#
        application/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},"ExpressPlay403":{"descripti\#
        on":"The credential is good, and does not allow this.","headers":{"X-Request-Id":{"$ref":"#/components/heade\#
        rs/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{"$ref":"#/components/\#
        headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem4\#
        03"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"application/jso\#
        n":{"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},"ExpressPlay404":{"description":"There is n\#
        othing at this address, or no key.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-E\#
        rror-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref\#
        ":"#/components/schemas/Problem404"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/Exp\#
        ressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},"ExpressPla\#
        y409":{"description":"The request contradicts what is stored.","headers":{"X-Request-Id":{"$ref":"#/componen\#
        ts/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/pro\#
        blem+json":{"schema":{"$ref":"#/components/schemas/Problem409"}},"text/html; charset=utf-8":{"schema":{"$ref\#
        ":"#/components/schemas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/schemas/Expres\#
        sPlayError"}}}},"ExpressPlay413":{"description":"The body is too large.","headers":{"X-Request-Id":{"$ref":"\#
        #/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"appli\#
        cation/problem+json":{"schema":{"$ref":"#/components/schemas/Problem413"}},"text/html; charset=utf-8":{"sche\#
        ma":{"$ref":"#/components/schemas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/sche\#
        mas/ExpressPlayError"}}}},"ExpressPlay422":{"description":"The body was read, and is not one that is answere\#
        d.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components\#
        /headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem4\#
        22"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"application/jso\#
        n":{"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},"ExpressPlay429":{"description":"Too many r\#
        equests, or the server has more to do than it can.","headers":{"X-Request-Id":{"$ref":"#/components/headers/\#
        RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{"$ref":"#/components/hea\#
        ders/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem429"\#
        }},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"application/json":\#
        {"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},"ExpressPlay500":{"description":"A fault of th\#
        e server.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/com\#
        ponents/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/P\#
        roblem500"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"applicat\#
        ion/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},"ExpressPlay503":{"description":"Som\#
        ething that the server depends on does not answer. Try again later.","headers":{"X-Request-Id":{"$ref":"#/co\#
        mponents/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{"$ref":\#
        "#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/sc\#
        hemas/Problem503"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"a\#
        pplication/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},"FilledCPIX":{"description":"\#
        The same document with keys.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Con\#
        trol":{"$ref":"#/components/headers/CacheControl"},"X-Speke-Version":{"$ref":"#/components/headers/SPEKEVers\#
        ion"},"X-Speke-User-Agent":{"$ref":"#/components/headers/SPEKEUserAgent"}},"content":{"application/xml":{"sc\#
        hema":{"$ref":"#/components/schemas/CPIXDocument"}}}},"Licence":{"description":"The licence, in the shape th\#
        at the player reads; or, in shapes with a result for each key, each key's result. A report of ended session\#
        s is answered with the word `acknowledged`.","headers":{"X-Request-Id":{"$ref":"#/components/headers/Request\#
        Id"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"},"X-License-Id":{"$ref":"#/components/heade\#
        rs/LicenseId"},"X-License-Type":{"$ref":"#/components/headers/LicenseType"},"X-License-Issued":{"$ref":"#/co\#
        mponents/headers/LicenseIssued"},"X-License-Expires":{"$ref":"#/components/headers/LicenseExpires"},"X-Licen\#
        se-Renew-After":{"$ref":"#/components/headers/LicenseRenewAfter"},"X-Session-Token":{"$ref":"#/components/he\#
        aders/SessionToken"}},"content":{"application/octet-stream":{"schema":{"description":"The bytes of the CKC."\#
        ,"type":"string","contentMediaType":"application/octet-stream"}},"text/plain; charset=utf-8":{"schema":{"des\#
        cription":"The Base64 of the CKC, `<ckc>` and `</ckc>` around it, or `acknowledged`.","type":"string","minLe\#
        ngth":1}},"application/json":{"schema":{"$ref":"#/components/schemas/LicenceJSON"}}}},"Player400":{"descript\#
        ion":"The request is not one that is read here.","headers":{"X-Request-Id":{"$ref":"#/components/headers/Req\#
        uestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"s\#
        chema":{"$ref":"#/components/schemas/Problem400"}},"application/json":{"schema":{"$ref":"#/components/schema\#
        s/NAGRAProblem400"}}}},"Player401":{"description":"The credential is missing, or proves too little.","header\#
        s":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/Er\#
        rorCode"},"WWW-Authenticate":{"$ref":"#/components/headers/Challenge"}},"content":{"application/problem+json\#
        ":{"schema":{"$ref":"#/components/schemas/Problem401"}},"application/json":{"schema":{"$ref":"#/components/s\#
        chemas/NAGRAProblem401"}}}},"Player403":{"description":"The credential is good, and does not allow this.","h\#
        eaders":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/heade\#
        rs/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+jso\#
        n":{"schema":{"$ref":"#/components/schemas/Problem403"}},"application/json":{"schema":{"$ref":"#/components/\#
        schemas/NAGRAProblem403"}}}},"Player404":{"description":"There is nothing at this address, or no key.","head\#
        ers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/\#
        ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem404"}},"ap\#
        plication/json":{"schema":{"$ref":"#/components/schemas/NAGRAProblem404"}}}},"Player409":{"description":"Th\#
        e request contradicts what is stored.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"\#
        X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$\#
        ref":"#/components/schemas/Problem409"}},"application/json":{"schema":{"$ref":"#/components/schemas/NAGRAPro\#
        blem409"}}}},"Player422":{"description":"The body was read, and is not one that is answered.","headers":{"X-\#
        Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode\#
        "}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem422"}},"application\#
        /json":{"schema":{"$ref":"#/components/schemas/NAGRAProblem422"}}}},"Player429":{"description":"Too many req\#
        uests, or the server has more to do than it can.","headers":{"X-Request-Id":{"$ref":"#/components/headers/Re\#
        questId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{"$ref":"#/components/heade\#
        rs/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem429"}}\#
        ,"application/json":{"schema":{"$ref":"#/components/schemas/NAGRAProblem429"}}}},"Player500":{"description":\#
        "A fault of the server.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":\#
        {"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/compon\#
        ents/schemas/Problem500"}},"application/json":{"schema":{"$ref":"#/components/schemas/NAGRAProblem500"}}}},"\#
        Player503":{"description":"Something that the server depends on does not answer. Try again later.","headers"\#
        :{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/Erro\#
        rCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"sc\#
        hema":{"$ref":"#/components/schemas/Problem503"}},"application/json":{"schema":{"$ref":"#/components/schemas\#
        /NAGRAProblem503"}}}},"Preflight":{"description":"The methods of the address. The `Access-Control` fields ar\#
        e there for pages that may read answers.","headers":{"Allow":{"$ref":"#/components/headers/Allow"},"Access-C\#
        ontrol-Allow-Origin":{"$ref":"#/components/headers/AllowOrigin"}}},"Problem400":{"description":"The reques\#
        t is not one that is read here.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Erro\#
        r-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"\#
        #/components/schemas/Problem400"}}}},"Problem401":{"description":"The credential is missing, or proves too l\#
        ittle.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/compon\#
        ents/headers/ErrorCode"},"WWW-Authenticate":{"$ref":"#/components/headers/Challenge"}},"content":{"applicati\#
        on/problem+json":{"schema":{"$ref":"#/components/schemas/Problem401"}}}},"Problem403":{"description":"The cr\#
        edential is good, and does not allow this.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestI\#
        d"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/Ret\#
        ryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem403"}}}},"Pr\#
        oblem404":{"description":"There is nothing at this address, or no key.","headers":{"X-Request-Id":{"$ref":"#\#
        /components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applic\#
        ation/problem+json":{"schema":{"$ref":"#/components/schemas/Problem404"}}}},"Problem408":{"description":"Th\#
        e request did not arrive in time. The connection closes.","headers":{"X-Request-Id":{"$ref":"#/components/he\#
        aders/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+\#
        json":{"schema":{"$ref":"#/components/schemas/Problem408"}}}},"Problem409":{"description":"The request contr\#
        adicts what is stored.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{\#
        "$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/compone\#
        nts/schemas/Problem409"}}}},"Problem413":{"description":"The body is too large.","headers":{"X-Request-Id":{\#
        "$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content"\#
        :{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem413"}}}},"Problem414":{"descript\#
        ion":"The request target is too long.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"\#
        X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$\#
        ref":"#/components/schemas/Problem414"}}}},"Problem417":{"description":"No expectation but 100-continue is s\#
        erved.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/compon\#
        ents/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Prob\#
        lem417"}}}},"Problem429":{"description":"Too many requests, or the server has more to do than it can.","head\#
        ers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/\#
        ErrorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":\#
        {"schema":{"$ref":"#/components/schemas/Problem429"}}}},"Problem431":{"description":"The request head is to\#
        o large.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/comp\#
        onents/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Pr\#
        oblem431"}}}},"Problem500":{"description":"A fault of the server.","headers":{"X-Request-Id":{"$ref":"#/comp\#
        onents/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application\#
        /problem+json":{"schema":{"$ref":"#/components/schemas/Problem500"}}}},"Problem501":{"description":"The meth\#
        od or the transfer coding is not served.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"\#
        },"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":\#
        {"$ref":"#/components/schemas/Problem501"}}}},"Problem503":{"description":"Something that the server depend\#
        s on does not answer. Try again later.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},\#
        "X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAf\#
        ter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem503"}}}},"Proble\#
        m505":{"description":"This HTTP version is not served.","headers":{"X-Request-Id":{"$ref":"#/components/head\#
        ers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+js\#
        on":{"schema":{"$ref":"#/components/schemas/Problem505"}}}},"SEES400":{"description":"The request is not on\#
        e that is read here.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$\#
        ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/component\#
        s/schemas/Problem400"}},"application/json":{"schema":{"$ref":"#/components/schemas/SEESAnswer"}}}},"SEES401"\#
        :{"description":"The credential is missing, or proves too little.","headers":{"X-Request-Id":{"$ref":"#/comp\#
        onents/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"WWW-Authenticate":{"$re\#
        f":"#/components/headers/Challenge"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/\#
        schemas/Problem401"}},"application/json":{"schema":{"$ref":"#/components/schemas/SEESAnswer"}}}},"SEES403":{\#
        "description":"The credential is good, and does not allow this.","headers":{"X-Request-Id":{"$ref":"#/compon\#
        ents/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{"$ref":"#/c\#
        omponents/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schema\#
        s/Problem403"}},"application/json":{"schema":{"$ref":"#/components/schemas/SEESAnswer"}}}},"SEES404":{"descr\#
        iption":"There is nothing at this address, or no key.","headers":{"X-Request-Id":{"$ref":"#/components/heade\#
        rs/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+jso\#
        n":{"schema":{"$ref":"#/components/schemas/Problem404"}},"application/json":{"schema":{"$ref":"#/components/\#
        schemas/SEESAnswer"}}}},"SEES429":{"description":"Too many requests, or the server has more to do than it ca\#
        n.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components\#
        /headers/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/probl\#
        em+json":{"schema":{"$ref":"#/components/schemas/Problem429"}},"application/json":{"schema":{"$ref":"#/compo\#
        nents/schemas/SEESAnswer"}}}},"SEES500":{"description":"A fault of the server.","headers":{"X-Request-Id":{"\#
        $ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":\#
        {"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem500"}},"application/json":{"schem\#
        a":{"$ref":"#/components/schemas/SEESAnswer"}}}},"SEES503":{"description":"Something that the server depend\#
        s on does not answer. Try again later.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},\#
        "X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAf\#
        ter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem503"}},"applicat\#
        ion/json":{"schema":{"$ref":"#/components/schemas/SEESAnswer"}}}},"SPEKE400":{"description":"The request i\#
        s not one that is read here.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-C\#
        ode":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/c\#
        omponents/schemas/Problem400"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}}}},"SPEKE401":{"desc\#
        ription":"The credential is missing, or proves too little.","headers":{"X-Request-Id":{"$ref":"#/components/\#
        headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"WWW-Authenticate":{"$ref":"#/c\#
        omponents/headers/Challenge"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas\#
        /Problem401"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}}}},"SPEKE403":{"description":"The cre\#
        dential is good, and does not allow this.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId\#
        "},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/Retr\#
        yAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem403"}},"text/\#
        plain; charset=utf-8":{"schema":{"type":"string"}}}},"SPEKE409":{"description":"The request contradicts wha\#
        t is stored.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/\#
        components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schema\#
        s/Problem409"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}}}},"SPEKE413":{"description":"The bo\#
        dy is too large.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref"\#
        :"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/sc\#
        hemas/Problem413"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}}}},"SPEKE415":{"description":"Th\#
        e body has a media type that is not read.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId\#
        "},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema"\#
        :{"$ref":"#/components/schemas/Problem415"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}}}},"SPE\#
        KE422":{"description":"The body was read, and is not one that is answered.","headers":{"X-Request-Id":{"$ref\#
        ":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"ap\#
        plication/problem+json":{"schema":{"$ref":"#/components/schemas/Problem422"}},"text/plain; charset=utf-8":{"\#
        schema":{"type":"string"}}}},"SPEKE429":{"description":"Too many requests, or the server has more to do tha\#
        n it can.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/com\#
        ponents/headers/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"applicatio\#
        n/problem+json":{"schema":{"$ref":"#/components/schemas/Problem429"}},"text/plain; charset=utf-8":{"schema":\#
        {"type":"string"}}}},"SPEKE500":{"description":"A fault of the server.","headers":{"X-Request-Id":{"$ref":"#\#
        /components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applic\#
        ation/problem+json":{"schema":{"$ref":"#/components/schemas/Problem500"}},"text/plain; charset=utf-8":{"sche\#
        ma":{"type":"string"}}}},"SPEKE503":{"description":"Something that the server depends on does not answer. Tr\#
        y again later.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"\#
        #/components/headers/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"appli\#
        cation/problem+json":{"schema":{"$ref":"#/components/schemas/Problem503"}},"text/plain; charset=utf-8":{"sch\#
        ema":{"type":"string"}}}}},"schemas":{"ErrorCode":{"description":"The codes of refusals. They do not chang\#
        e between versions. Their statuses are in the schemas `Problem400` and so on.","type":"string","enum":["body\#
        _empty","body_unrecognised","spc_is_certificate","spc_double_base64","spc_version_unsupported","spc_malforme\#
        d","spc_certificate_unknown","spc_rejected","spc_replayed","token_missing","token_ambiguous","token_malforme\#
        d","token_alg","kid_unknown","kid_revoked","token_signature","token_expired","token_not_yet","token_life","t\#
        oken_audience","token_issuer","token_schema","token_used","token_revoked","subject_disabled","device_revoked\#
        ","ip_denied","geo_denied","content_mismatch","offline_not_allowed","right_not_started","right_ended","devic\#
        e_mismatch","device_limit","concurrency_limit","session_expired","session_killed","key_not_found","key_store\#
        _timeout","admin_token_invalid","packager_invalid","packager_forbidden","cpix_rejected","media_type_unsuppor\#
        ted","key_conflict","key_lost","rate_limited","overloaded","entitlement_denied","entitlement_unavailable","t\#
        erms_not_expressible","security_level","storage_unavailable","clock_untrusted","module_unavailable","not_fou\#
        nd","method_not_allowed","bad_request","request_timeout","body_too_large","uri_too_long","head_too_large","e\#
        xpectation_failed","not_implemented","version_not_supported","internal"]},"Problem":{"type":"object","requir\#
        ed":["type","title","status","detail","code","request_id","server_time","hint"],"properties":{"type":{"type"\#
        :"string","format":"uri","description":"`urn:latchkey:error:` and the code, or a type of DASH-IF."},"title":\#
        {"type":"string"},"status":{"type":"integer"},"detail":{"type":"string"},"code":{"$ref":"#/components/schema\#
        s/ErrorCode"},"request_id":{"type":"string","pattern":"^[0-9a-f]{16}$"},"server_time":{"type":"string","form\#
        at":"date-time"},"hint":{"type":"string","description":"What to do about it."},"retry_after":{"type":"intege\#
        r","minimum":0,"description":"The least wait in seconds."},"expired_ago":{"type":"integer","description":"O\#
        f `token_expired`, in seconds."},"valid_in":{"type":"integer","description":"Of `token_not_yet`, in seconds.\#
        "},"claim":{"type":"string","description":"Of `token_schema`."},"current":{"type":"integer","description":"O\#
        f `concurrency_limit`: playbacks that run."},"max":{"type":"integer","description":"Of `concurrency_limit`\#
        : playbacks that may run."},"term":{"type":"string","description":"Of `terms_not_expressible`: what the devi\#
        ce cannot be told."},"parameter":{"type":"string","description":"Of `bad_request`: the part of the query tha\#
        t is not readable."},"member":{"type":"string","description":"Of `bad_request` at `/v1/keys`: the part of th\#
        e body or of the query that is wrong."},"header":{"type":"string","description":"Of `token_missing`: a heade\#
        r that is not read and looks as if it had a token."},"certificate_hash":{"type":"string","description":"Of `\#
        spc_certificate_unknown`."},"held_hashes":{"type":"string","description":"Of `spc_certificate_unknown`."}},"\#
        description":"A refusal (RFC 9457).","example":{"type":"urn:latchkey:error:right_ended","title":"The right h\#
        as ended","status":403,"detail":"The right has ended.","code":"right_ended","request_id":"5f0c2b7e91d3a846",\#
        "server_time":"2026-01-31T12:00:00.000Z","hint":"Fetch a token with a right that has not ended."}},"NAGRAPro\#
        blem":{"description":"A refusal for clients of NAGRA's dialect: the members of `Problem` after a number.","a\#
        llOf":[{"$ref":"#/components/schemas/Problem"}],"required":["errorCode"],"properties":{"errorCode":{"type":"\#
        integer"}},"example":{"errorCode":4000,"type":"urn:latchkey:error:right_ended","title":"The right has ended"\#
        ,"status":403,"detail":"The right has ended.","code":"right_ended","request_id":"5f0c2b7e91d3a846","server_t\#
        ime":"2026-01-31T12:00:00.000Z","hint":"Fetch a token with a right that has not ended."}},"ExpressPlayCode":\#
        {"description":"ExpressPlay's numbers.","type":"integer","enum":[-2002,-2003,-2005,-2008,-2017,-2018,-2019,-\#
        2020,-2021,-2022,-2023,-2025,-2027,-2030,-2031,-2033,-2034,-2035,-2036,-2037,-2040,-3004,-4001,-4010,-4018,-\#
        4019,-4020,-4021,-4022,-4024,-5003,-6001,-6003,-6004,-6005,-6007,-6008]},"ExpressPlayError":{"type":"object"\#
        ,"required":["errorMessage","eventId"],"properties":{"errorCode":{"$ref":"#/components/schemas/ExpressPlayCo\#
        de"},"errorMessage":{"type":"string"},"eventId":{"type":"string","pattern":"^[0-9a-f]{16}$"}},"additionalPro\#
        perties":false,"description":"A refusal in ExpressPlay's manner. It has no number for what only HTTP knows."\#
        ,"example":{"errorCode":-2018,"errorMessage":"customerAuthenticator is not known in this environment.","even\#
        tId":"5f0c2b7e91d3a846"}},"ExpressPlayPage":{"description":"The same as a page.","type":"string","pattern":"\#
        ^<!DOCTYPE html>"},"SPC":{"description":"The bytes of an SPC, as the player made them.","type":"string","con\#
        tentMediaType":"application/octet-stream"},"Base64SPC":{"type":"string","contentEncoding":"base64","minLengt\#
        h":1,"description":"The Base64 of an SPC, in either alphabet, with padding or without."},"LicenceForm":{"typ\#
        e":"object","required":["spc"],"properties":{"spc":{"$ref":"#/components/schemas/Base64SPC"},"assetId":{"typ\#
        e":"string"},"token":{"type":"string","description":"Counts if `entitlement.tokenInBody` is set."}},"example\#
        ":{"spc":"AAAAAQ==","assetId":"movie-42"}},"LicenceParts":{"type":"object","required":["spc"],"properties":{\#
        "spc":{"type":"string","contentMediaType":"application/octet-stream","description":"The SPC, as bytes or i\#
        n Base64."},"assetId":{"type":"string"},"token":{"type":"string"}}},"LicenceObject":{"description":"An objec\#
        t with the SPC under one of the names that players use.","type":"object","oneOf":[{"required":["spc"]},{"req\#
        uired":["spcMessage"]},{"required":["SpcMessage"]},{"required":["spcData"]},{"required":["payload"]},{"requi\#
        red":["licenseChallenge"]},{"required":["server_playback_context"]}],"properties":{"spc":{"$ref":"#/componen\#
        ts/schemas/Base64SPC"},"spcMessage":{"$ref":"#/components/schemas/Base64SPC"},"SpcMessage":{"$ref":"#/compon\#
        ents/schemas/Base64SPC"},"spcData":{"$ref":"#/components/schemas/Base64SPC"},"payload":{"$ref":"#/components\#
        /schemas/Base64SPC"},"licenseChallenge":{"$ref":"#/components/schemas/Base64SPC"},"server_playback_context":\#
        {"$ref":"#/components/schemas/Base64SPC"},"assetId":{"type":"string"},"contentId":{"type":"string"},"uri":{"\#
        type":"string"},"token":{"type":"string"}},"example":{"spc":"AAAAAQ==","assetId":"movie-42"}},"GetFairplayLi\#
        cense":{"type":"object","required":["getFairplayLicense"],"properties":{"getFairplayLicense":{"type":"object\#
        ","required":["spcMessage"],"properties":{"spcMessage":{"$ref":"#/components/schemas/Base64SPC"},"assetId":{\#
        "type":"string"},"contentId":{"type":"string"},"uri":{"type":"string"}}},"token":{"type":"string"}},"example\#
        ":{"getFairplayLicense":{"spcMessage":"AAAAAQ=="}}},"KeyRequestArray":{"description":"What a browser sends f\#
        or several keys (EME).","type":"array","minItems":1,"maxItems":16,"items":{"type":"object","required":["keyI\#
        D","payload"],"properties":{"keyID":{"type":"string","maxLength":1024},"payload":{"$ref":"#/components/schem\#
        as/Base64SPC"}}},"example":[{"keyID":"movie-42","payload":"AAAAAQ=="}]},"StreamingKeysRequest":{"type":"obje\#
        ct","required":["fairplay-streaming-request"],"properties":{"fairplay-streaming-request":{"type":"object","r\#
        equired":["streaming-keys"],"properties":{"version":{"type":"integer"},"create":{"type":["string","number"]}\#
        ,"streaming-keys":{"type":"array","minItems":1,"maxItems":16,"items":{"type":"object","required":["spc"],"pr\#
        operties":{"id":{"type":["string","number"],"description":"Repeated in the answer. A text has at most 1,02\#
        4 bytes."},"uri":{"type":"string"},"spc":{"$ref":"#/components/schemas/Base64SPC"},"offline":{"type":"boolea\#
        n"}}}}}},"token":{"type":"string"}},"example":{"fairplay-streaming-request":{"version":1,"streaming-keys":[{\#
        "id":1,"uri":"skd://movie-42","spc":"AAAAAQ=="}]}}},"SessionReport":{"description":"A property list, binar\#
        y or XML, with a `PlaybackSessionID` for each playback that has ended.","type":"string","contentMediaType":"\#
        application/x-plist"},"PropertyListText":{"description":"The same as XML.","type":"string"},"LicenceFacts":{\#
        "type":"object","required":["id","type","issued_at","expires_at","renew_after","lease","rental","storage_exp\#
        ires_at","playback","persistent"],"properties":{"id":{"type":"string"},"type":{"type":"string","description"\#
        :"The validity: for example `unlimited`, `lease`, `rental`."},"issued_at":{"type":"integer"},"expires_at":{"\#
        type":["integer","null"]},"renew_after":{"type":["integer","null"]},"lease":{"type":["integer","null"]},"ren\#
        tal":{"type":["integer","null"]},"storage_expires_at":{"type":["integer","null"]},"playback":{"type":["integ\#
        er","null"]},"persistent":{"type":"boolean","description":"Whether the device keeps the key."}},"description\#
        ":"What is known of a licence. Times are in seconds since 1970, lengths in seconds; null if there is no suc\#
        h limit.","example":{"id":"AZq0Zk1vcPOBkXvS0hE8nQ","type":"lease","issued_at":1769860800,"expires_at":176986\#
        1100,"renew_after":1769861000,"lease":300,"rental":null,"storage_expires_at":null,"playback":null,"persisten\#
        t":false}},"LicenceAnswer":{"type":"object","required":["ckc","license","server_time"],"properties":{"ckc":{\#
        "type":"string","contentEncoding":"base64","minLength":1},"session_token":{"type":"string"},"license":{"$ref\#
        ":"#/components/schemas/LicenceFacts"},"server_time":{"type":"string","format":"date-time"}},"additionalProp\#
        erties":false,"description":"`format=json`."},"NAGRALicenceAnswer":{"type":"object","required":["CkcMessage"\#
        ,"license","server_time"],"properties":{"CkcMessage":{"type":"string","contentEncoding":"base64","minLength"\#
        :1},"sessionToken":{"type":"string"},"license":{"$ref":"#/components/schemas/LicenceFacts"},"server_time":{"\#
        type":"string","format":"date-time"}},"additionalProperties":false,"description":"`format=nagra`."},"Kaltura\#
        Answer":{"type":"object","required":["ckc","persistence_duration"],"properties":{"ckc":{"type":"string","con\#
        tentEncoding":"base64","minLength":1},"persistence_duration":{"type":"integer","minimum":0}},"additionalProp\#
        erties":false,"description":"`format=kaltura`, and the answer to plain Base64. For how many seconds from no\#
        w on a kept key may begin to play."},"MemberAnswer":{"description":"The CKC under the name that belongs to t\#
        hat of the request.","type":"object","minProperties":1,"maxProperties":1,"additionalProperties":false,"prope\#
        rties":{"ckc":{"type":"string","contentEncoding":"base64","minLength":1},"ckcMessage":{"type":"string","cont\#
        entEncoding":"base64","minLength":1},"CkcMessage":{"type":"string","contentEncoding":"base64","minLength":1}\#
        ,"ckcData":{"type":"string","contentEncoding":"base64","minLength":1},"payload":{"type":"string","contentEnc\#
        oding":"base64","minLength":1}},"example":{"ckc":"AAAAAQ=="}},"GetFairplayLicenseAnswer":{"type":"object","r\#
        equired":["getFairplayLicenseResponse"],"properties":{"getFairplayLicenseResponse":{"type":"object","require\#
        d":["ckcResponse"],"properties":{"ckcResponse":{"type":"string","contentEncoding":"base64","minLength":1}},"\#
        additionalProperties":false}},"additionalProperties":false},"AppleStatus":{"description":"The status of a ke\#
        y that is refused, as Apple numbers it.","type":"integer","enum":[-42580,-42581,-42584,-42585,-42601,-42604,\#
        -42605]},"KeyAnswerArray":{"description":"A licence or a number for each key, in the order of the request.",\#
        "type":"array","minItems":1,"maxItems":16,"items":{"type":"object","oneOf":[{"required":["payload"]},{"requi\#
        red":["error"]}],"properties":{"keyID":{"type":"string"},"payload":{"type":"string","contentEncoding":"base6\#
        4","minLength":1},"error":{"$ref":"#/components/schemas/AppleStatus"}},"additionalProperties":false}},"Strea\#
        mingKeysAnswer":{"type":"object","required":["fairplay-streaming-response"],"properties":{"fairplay-streamin\#
        g-response":{"type":"object","required":["streaming-keys"],"properties":{"streaming-keys":{"type":"array","m\#
        inItems":1,"maxItems":16,"items":{"type":"object","required":["status"],"additionalProperties":false,"proper\#
        ties":{"id":{"type":["string","number"]},"status":{"description":"0 for success, or one of the numbers of `A\#
        ppleStatus`.","enum":[0,-42580,-42581,-42584,-42585,-42601,-42604,-42605]},"ckc":{"type":"string","contentEn\#
        coding":"base64","minLength":1},"renew-after":{"type":"integer","minimum":0},"lease-expiry-time":{"type":"in\#
        teger","minimum":0},"session-token":{"type":"string"},"playback":{"const":"ended"},"offline-sync":{"type":"o\#
        bject","required":["version","duration-to-expiry"],"properties":{"version":{"enum":[1,2]},"duration-to-expir\#
        y":{"type":"integer"},"content-id":{"type":"string"},"server-challenge":{"type":"string","pattern":"^[0-9a-f\#
        ]{16}$"},"flags":{"type":"object","additionalProperties":{"type":"boolean"}},"title-id":{"type":"string"},"r\#
        ecords-invalidated":{"type":"integer"},"invalidated-stream-ids":{"type":"array","items":{"type":"string"}}}}\#
        ,"expiresInSeconds":{"type":["integer","null"]},"expirationDate":{"type":["string","null"],"format":"date-ti\#
        me"},"challengeAccepted":{"type":"boolean"}}}}},"additionalProperties":false}},"additionalProperties":false}\#
        ,"SyncReport":{"type":"object","required":["offline-sync","expiresInSeconds","expirationDate","challengeAcce\#
        pted"],"properties":{"offline-sync":{"type":"object","required":["version","duration-to-expiry"],"properties\#
        ":{"version":{"enum":[1,2]},"duration-to-expiry":{"type":"integer"},"content-id":{"type":"string"},"server-c\#
        hallenge":{"type":"string","pattern":"^[0-9a-f]{16}$"},"flags":{"type":"object","additionalProperties":{"typ\#
        e":"boolean"}},"title-id":{"type":"string"},"records-invalidated":{"type":"integer"},"invalidated-stream-ids\#
        ":{"type":"array","items":{"type":"string"}}}},"expiresInSeconds":{"type":["integer","null"]},"expirationDat\#
        e":{"type":["string","null"],"format":"date-time"},"challengeAccepted":{"type":"boolean"}},"additionalProper\#
        ties":false,"description":"The answer to a sync SPC: what the device reports."},"PlaybackEnd":{"type":"objec\#
        t","required":["playback","server_time"],"properties":{"playback":{"const":"ended"},"server_time":{"type":"s\#
        tring","format":"date-time"}},"additionalProperties":false,"description":"The answer to an SPC whose devic\#
        e says that playback has stopped."},"LicenceJSON":{"anyOf":[{"$ref":"#/components/schemas/LicenceAnswer"},{"\#
        $ref":"#/components/schemas/NAGRALicenceAnswer"},{"$ref":"#/components/schemas/KalturaAnswer"},{"$ref":"#/co\#
        mponents/schemas/MemberAnswer"},{"$ref":"#/components/schemas/GetFairplayLicenseAnswer"},{"$ref":"#/componen\#
        ts/schemas/KeyAnswerArray"},{"$ref":"#/components/schemas/StreamingKeysAnswer"},{"$ref":"#/components/schema\#
        s/SyncReport"},{"$ref":"#/components/schemas/PlaybackEnd"}]},"Problem400":{"allOf":[{"$ref":"#/components/sc\#
        hemas/Problem"}],"properties":{"status":{"const":400},"code":{"enum":["body_empty","body_unrecognised","spc_\#
        is_certificate","spc_double_base64","spc_version_unsupported","spc_malformed","token_ambiguous","token_schem\#
        a","bad_request"]}},"unevaluatedProperties":false},"NAGRAProblem400":{"allOf":[{"$ref":"#/components/schemas\#
        /NAGRAProblem"}],"properties":{"status":{"const":400},"code":{"enum":["body_empty","body_unrecognised","spc_\#
        is_certificate","spc_double_base64","spc_version_unsupported","spc_malformed","token_ambiguous","token_schem\#
        a","bad_request"]}},"unevaluatedProperties":false},"Problem401":{"allOf":[{"$ref":"#/components/schemas/Prob\#
        lem"}],"properties":{"status":{"const":401},"code":{"enum":["token_missing","token_malformed","token_alg","k\#
        id_unknown","kid_revoked","token_signature","token_expired","token_not_yet","token_life","token_audience","t\#
        oken_issuer","admin_token_invalid","packager_invalid"]}},"unevaluatedProperties":false},"NAGRAProblem401":{"\#
        allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":401},"code":{"enum":["\#
        token_missing","token_malformed","token_alg","kid_unknown","kid_revoked","token_signature","token_expired","\#
        token_not_yet","token_life","token_audience","token_issuer","admin_token_invalid","packager_invalid"]}},"une\#
        valuatedProperties":false},"Problem403":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"st\#
        atus":{"const":403},"code":{"enum":["token_missing","token_malformed","token_alg","kid_unknown","kid_revoked\#
        ","token_signature","token_expired","token_not_yet","token_life","token_audience","token_issuer","token_used\#
        ","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch","offline_n\#
        ot_allowed","right_not_started","right_ended","device_mismatch","device_limit","concurrency_limit","session_\#
        expired","session_killed","packager_forbidden","entitlement_denied","terms_not_expressible","security_level"\#
        ]}},"unevaluatedProperties":false},"NAGRAProblem403":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}]\#
        ,"properties":{"status":{"const":403},"code":{"enum":["token_missing","token_malformed","token_alg","kid_unk\#
        nown","kid_revoked","token_signature","token_expired","token_not_yet","token_life","token_audience","token_i\#
        ssuer","token_used","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mi\#
        smatch","offline_not_allowed","right_not_started","right_ended","device_mismatch","device_limit","concurrenc\#
        y_limit","session_expired","session_killed","packager_forbidden","entitlement_denied","terms_not_expressible\#
        ","security_level"]}},"unevaluatedProperties":false},"Problem404":{"allOf":[{"$ref":"#/components/schemas/Pr\#
        oblem"}],"properties":{"status":{"const":404},"code":{"enum":["key_not_found","not_found"]}},"unevaluatedPro\#
        perties":false},"NAGRAProblem404":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"sta\#
        tus":{"const":404},"code":{"enum":["key_not_found","not_found"]}},"unevaluatedProperties":false},"Problem408\#
        ":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":408},"code":{"enum":["r\#
        equest_timeout"]}},"unevaluatedProperties":false},"Problem409":{"allOf":[{"$ref":"#/components/schemas/Probl\#
        em"}],"properties":{"status":{"const":409},"code":{"enum":["spc_replayed","key_conflict","key_lost"]}},"unev\#
        aluatedProperties":false},"NAGRAProblem409":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"propert\#
        ies":{"status":{"const":409},"code":{"enum":["spc_replayed","key_conflict","key_lost"]}},"unevaluatedPropert\#
        ies":false},"Problem413":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":\#
        413},"code":{"enum":["body_too_large"]}},"unevaluatedProperties":false},"Problem414":{"allOf":[{"$ref":"#/co\#
        mponents/schemas/Problem"}],"properties":{"status":{"const":414},"code":{"enum":["uri_too_long"]}},"unevalua\#
        tedProperties":false},"Problem417":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status"\#
        :{"const":417},"code":{"enum":["expectation_failed"]}},"unevaluatedProperties":false},"Problem422":{"allOf":\#
        [{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":422},"code":{"enum":["spc_certific\#
        ate_unknown","spc_rejected","cpix_rejected"]}},"unevaluatedProperties":false},"NAGRAProblem422":{"allOf":[{"\#
        $ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":422},"code":{"enum":["spc_certif\#
        icate_unknown","spc_rejected","cpix_rejected"]}},"unevaluatedProperties":false},"Problem429":{"allOf":[{"$re\#
        f":"#/components/schemas/Problem"}],"properties":{"status":{"const":429},"code":{"enum":["rate_limited","ove\#
        rloaded"]}},"unevaluatedProperties":false},"NAGRAProblem429":{"allOf":[{"$ref":"#/components/schemas/NAGRAPr\#
        oblem"}],"properties":{"status":{"const":429},"code":{"enum":["rate_limited","overloaded"]}},"unevaluatedPro\#
        perties":false},"Problem431":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"con\#
        st":431},"code":{"enum":["head_too_large"]}},"unevaluatedProperties":false},"Problem500":{"allOf":[{"$ref":"\#
        #/components/schemas/Problem"}],"properties":{"status":{"const":500},"code":{"enum":["internal"]}},"unevalua\#
        tedProperties":false},"NAGRAProblem500":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties"\#
        :{"status":{"const":500},"code":{"enum":["internal"]}},"unevaluatedProperties":false},"Problem501":{"allOf":\#
        [{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":501},"code":{"enum":["not_implemen\#
        ted"]}},"unevaluatedProperties":false},"Problem503":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"prop\#
        erties":{"status":{"const":503},"code":{"enum":["key_store_timeout","entitlement_unavailable","storage_unava\#
        ilable","clock_untrusted","module_unavailable"]}},"unevaluatedProperties":false},"NAGRAProblem503":{"allOf":\#
        [{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":503},"code":{"enum":["key_sto\#
        re_timeout","entitlement_unavailable","storage_unavailable","clock_untrusted","module_unavailable"]}},"uneva\#
        luatedProperties":false},"Problem505":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"stat\#
        us":{"const":505},"code":{"enum":["version_not_supported"]}},"unevaluatedProperties":false},"CertificateBase\#
        64":{"description":"The Base64 of the same bytes, without a line end.","type":"string","contentEncoding":"ba\#
        se64"},"LicenceState":{"oneOf":[{"allOf":[{"$ref":"#/components/schemas/LicenceFacts"}],"required":["state",\#
        "kid","content","renewable"],"properties":{"state":{"enum":["valid","ended","renewed"]},"kid":{"type":["stri\#
        ng","null"]},"content":{"type":["string","null"]},"renewable":{"type":"boolean"}},"unevaluatedProperties":fa\#
        lse},{"type":"object","required":["id","state"],"properties":{"id":{"type":"string"},"state":{"const":"unkno\#
        wn"}},"additionalProperties":false}],"example":{"id":"AZq0Zk1vcPOBkXvS0hE8nQ","state":"unknown"}},"LicenceQu\#
        ery":{"oneOf":[{"type":"object","required":["licenses"],"properties":{"licenses":{"type":"array","minItems":\#
        1,"maxItems":32,"items":{"type":"string","minLength":1,"maxLength":200}}},"additionalProperties":false},{"ty\#
        pe":"object","required":["assets"],"properties":{"assets":{"type":"array","minItems":1,"maxItems":32,"items"\#
        :{"type":"string","minLength":2,"maxLength":200}}},"additionalProperties":false}],"example":{"assets":["movi\#
        e-42"]}},"LicenceStates":{"oneOf":[{"type":"object","required":["server_time","licenses"],"properties":{"ser\#
        ver_time":{"type":"string","format":"date-time"},"licenses":{"type":"array","items":{"$ref":"#/components/sc\#
        hemas/LicenceState"}}},"additionalProperties":false},{"type":"object","required":["server_time","assets"],"p\#
        roperties":{"server_time":{"type":"string","format":"date-time"},"assets":{"type":"array","items":{"type":"o\#
        bject","required":["asset","licenses"],"properties":{"asset":{"type":"string"},"licenses":{"type":"array","i\#
        tems":{"$ref":"#/components/schemas/LicenceState"}}},"additionalProperties":false}}},"additionalProperties":\#
        false}],"example":{"server_time":"2026-01-31T12:00:00.000Z","assets":[{"asset":"movie-42","licenses":[]}]}},\#
        "Challenge":{"type":"object","required":["challenge","expiresIn"],"properties":{"challenge":{"type":"string"\#
        ,"pattern":"^[0-9a-f]{16}$"},"expiresIn":{"type":"integer","description":"In seconds."}},"additionalProperti\#
        es":false,"example":{"challenge":"00f1e2d3c4b5a697","expiresIn":300}},"TokenForm":{"description":"The parame\#
        ters of a token request, in the form or in the query. Those of PlayReady are checked and have no effect.","t\#
        ype":"object","properties":{"customerAuthenticator":{"type":"string"},"errorFormat":{"enum":["html","json"]}\#
        ,"generalFlags":{"type":"string","pattern":"^([0-9A-Fa-f]{4}|[0-9A-Fa-f]{8})$"},"contentKey":{"type":"string\#
        ","pattern":"^[0-9A-Fa-f]{32}$"},"kek":{"type":"string","pattern":"^([0-9A-Fa-f]{32}|[0-9A-Fa-f]{48}|[0-9A-F\#
        a-f]{64})$"},"ek":{"type":"string","pattern":"^[0-9A-Fa-f]{48}$"},"kid":{"type":"string","pattern":"^([0-9A-\#
        Fa-f]{32}|\\^[!-~]{1,64})$"},"iv":{"type":"string","pattern":"^[0-9A-Fa-f]{32}$"},"rentalDuration":{"type":"\#
        integer","minimum":0,"maximum":4294967294},"fpExtension":{"type":"string"},"expirationTime":{"type":"string"\#
        ,"description":"RFC 3339 in UTC, or `+` and seconds; 30 days at most."},"cookie":{"type":"string","maxLength\#
        ":32},"latchkey.lease":{"type":"integer","minimum":1,"maximum":4294967294},"latchkey.device":{"type":"string\#
        "},"latchkey.bind":{"enum":["first","none"]},"latchkey.uses":{"type":"integer","minimum":1,"maximum":4294967\#
        295},"latchkey.hdcp":{"enum":["none","type0","type1"]},"rightsType":{"enum":["BuyToOwn","Rental"]},"rental.p\#
        eriodEndTime":{"type":"string"},"rental.playDuration":{"type":"integer","minimum":0},"analogVideoOPL":{"type\#
        ":"integer","minimum":0,"maximum":999},"compressedDigitalAudioOPL":{"type":"integer","minimum":0,"maximum":9\#
        99},"compressedDigitalVideoOPL":{"type":"integer","minimum":0,"maximum":999},"uncompressedDigitalAudioOPL":{\#
        "type":"integer","minimum":0,"maximum":999},"uncompressedDigitalVideoOPL":{"type":"integer","minimum":0,"max\#
        imum":999},"prFlag":{"type":"string","pattern":"^[0-9A-Fa-f]{8}$"},"useHttps":{"enum":["true","false","1","0\#
        "]}},"example":{"customerAuthenticator":"201722,0123456789abcdef0123456789abcdef","kid":"^movie-1","expirati\#
        onTime":"+300"}},"SEESQuestion":{"type":"object","required":["messageID","version","requestType","contentID"\#
        ],"properties":{"messageID":{"type":"string","format":"uuid"},"version":{"const":1},"requestType":{"enum":[1\#
        ,2,3],"description":"1 for a time, 2 to register the device, 3 for registered devices alone."},"contentID":{\#
        "type":"string","pattern":"^[!-~]{1,200}$"},"customerCookie":{"type":["string","null"],"minLength":1,"maxLen\#
        gth":32,"description":"Needed for the types 2 and 3."}},"example":{"messageID":"0f8fad5b-d9cb-469f-a165-7086\#
        7728950e","version":1,"requestType":1,"contentID":"movie-1"}},"SEESAnswer":{"type":"object","required":["mes\#
        sageID","version","isAllowed","epTokenURL"],"properties":{"messageID":{"type":"string"},"version":{"const":1\#
        },"isAllowed":{"type":"boolean"},"epTokenURL":{"type":"string"},"error":{"$ref":"#/components/schemas/Expres\#
        sPlayCode"},"errorText":{"type":"string"}},"additionalProperties":false,"description":"Also of questions tha\#
        t are refused: `isAllowed` is false then.","example":{"messageID":"0f8fad5b-d9cb-469f-a165-70867728950e","ve\#
        rsion":1,"isAllowed":false,"epTokenURL":"","error":-4019,"errorText":"The key store has no such key to give.\#
        "}},"CPIXDocument":{"description":"A CPIX document as SPEKE has it, in UTF-8, of at most 256 KiB.","type":"s\#
        tring","minLength":1},"Problem415":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status"\#
        :{"const":415},"code":{"enum":["media_type_unsupported"]}},"unevaluatedProperties":false},"TrackOrder":{"any\#
        Of":[{"type":"string","minLength":1,"maxLength":64,"pattern":"^[!-~]*$"},{"type":"object","required":["track\#
        "],"properties":{"track":{"type":"string","minLength":1,"maxLength":64,"pattern":"^[!-~]*$"},"contentType":{\#
        "enum":["audio","sd","hd","uhd",null]},"kid":{"type":["string","null"],"format":"uuid"},"iv":{"type":"string\#
        ","pattern":"^[0-9A-Fa-f]{32}$"},"key":{"type":"string","pattern":"^[0-9A-Fa-f]{32}$","description":"Import\#
        s a key, which needs the scope `import` and an `iv`."},"hdcp":{"enum":["none","type0","type1",null]},"securi\#
        tyLevel":{"enum":["audio","baseline","main",null]}},"additionalProperties":false}],"example":{"track":"4K","\#
        contentType":"uhd"}},"KeyOrder":{"type":"object","required":["contentId","tracks"],"properties":{"contentId"\#
        :{"type":"string","pattern":"^[!-~]{1,200}$"},"tracks":{"type":"array","minItems":1,"maxItems":64,"items":{"\#
        $ref":"#/components/schemas/TrackOrder"}},"scheme":{"enum":["cbcs","sample-aes","cenc","cens","cbc1",null]},\#
        "period":{"type":["integer","null"],"minimum":0,"maximum":4294967295}},"additionalProperties":false,"example\#
        ":{"contentId":"movie-1","tracks":["HD","AUDIO"]}},"DeliveredKeys":{"type":"object","required":["contentId",\#
        "keys"],"properties":{"contentId":{"type":"string"},"keys":{"type":"array","minItems":1,"items":{"type":"obj\#
        ect","required":["kid","track","contentType","period","scheme","key","iv","url","outcome"],"properties":{"ki\#
        d":{"type":"string","format":"uuid"},"track":{"type":["string","null"]},"contentType":{"enum":["audio","sd",\#
        "hd","uhd"]},"period":{"type":["integer","null"]},"scheme":{"enum":["cbcs","sample-aes","cenc","cens","cbc1"\#
        ]},"key":{"type":"string","pattern":"^[0-9a-f]{32}$"},"iv":{"type":"string","pattern":"^[0-9a-f]{32}$"},"url\#
        ":{"type":"string"},"outcome":{"enum":["created","found","imported"]}},"additionalProperties":false}}},"addi\#
        tionalProperties":false},"KeyPage":{"type":"object","required":["contentId","keys","next"],"properties":{"co\#
        ntentId":{"type":"string"},"keys":{"type":"array","items":{"type":"object","required":["kid","track","conten\#
        tType","period","scheme","key","iv","url"],"properties":{"kid":{"type":"string","format":"uuid"},"track":{"t\#
        ype":["string","null"]},"contentType":{"enum":["audio","sd","hd","uhd"]},"period":{"type":["integer","null"]\#
        },"scheme":{"enum":["cbcs","sample-aes","cenc","cens","cbc1"]},"key":{"type":"string","pattern":"^[0-9a-f]{3\#
        2}$"},"iv":{"type":"string","pattern":"^[0-9a-f]{32}$"},"url":{"type":"string"}},"additionalProperties":fals\#
        e}},"next":{"type":["string","null"],"format":"uuid","description":"`after` of the next page."}},"additional\#
        Properties":false},"ExplainQuestion":{"type":"object","required":["token"],"properties":{"token":{"type":"st\#
        ring"},"spc":{"type":"string","contentEncoding":"base64"},"offline":{"type":"boolean"},"address":{"type":"st\#
        ring","anyOf":[{"format":"ipv4"},{"format":"ipv6"}]},"country":{"type":"string","pattern":"^[A-Z]{2}$","desc\#
        ription":"ISO 3166-1 alpha-2."}},"additionalProperties":false,"example":{"token":"eyJhbGciOiJFUzI1NiJ9.e30.A\#
        A","offline":false}},"Check":{"type":"object","required":["name","verdict"],"properties":{"name":{"type":"st\#
        ring"},"verdict":{"enum":["passed","failed","not_reached"]},"code":{"$ref":"#/components/schemas/ErrorCode"}\#
        ,"cause":{"type":"string"},"found":{"type":"string"},"expected":{"type":"string"}},"additionalProperties":fa\#
        lse,"example":{"name":"expiry","verdict":"passed"}},"Explanation":{"type":"object","required":["allowed","us\#
        e","refusal","checks","findings","claims","spc","key","rental","spends","terms"],"properties":{"allowed":{"t\#
        ype":["boolean","null"]},"use":{"enum":["streaming","offline"]},"refusal":{"anyOf":[{"type":"null"},{"type":\#
        "object","required":["code","cause"],"properties":{"code":{"$ref":"#/components/schemas/ErrorCode"},"cause":\#
        {"type":"string"}},"additionalProperties":false}]},"checks":{"type":"object","additionalProperties":{"type":\#
        "array","items":{"$ref":"#/components/schemas/Check"}},"description":"Checks by their section: `token`, `rev\#
        ocations`, `spc`, `request`, `rights[0]` and so on, `sync`, `terms`."},"findings":{"type":"array","items":{"\#
        type":"string"}},"claims":{"anyOf":[{"type":"null"},{"type":"object","required":["issuer","subject","tokenID\#
        ","kid","expiresAt","rights"],"properties":{"issuer":{"type":"string"},"subject":{"type":["string","null"]},\#
        "tokenID":{"type":["string","null"]},"kid":{"type":["string","null"]},"expiresAt":{"type":"integer"},"rights\#
        ":{"type":"integer"}},"additionalProperties":false}]},"spc":{"anyOf":[{"type":"null"},{"type":"object","requ\#
        ired":["version","credential","assetID","deviceID","sync"],"properties":{"version":{"type":"integer"},"crede\#
        ntial":{"type":"string"},"assetID":{"type":"string"},"deviceID":{"type":["string","null"]},"sync":{"type":"b\#
        oolean"}},"additionalProperties":false}]},"key":{"anyOf":[{"type":"null"},{"type":"object","required":["kid"\#
        ,"content","contentType"],"properties":{"kid":{"type":"string"},"content":{"type":"string"},"contentType":{"\#
        enum":["audio","sd","hd","uhd"]}},"additionalProperties":false}]},"rental":{"anyOf":[{"type":"null"},{"type"\#
        :"object","properties":{"openedAt":{"type":["string","null"]},"firstPlay":{"type":["string","null"]},"unknow\#
        n":{"type":"string"}},"additionalProperties":false}]},"spends":{"type":"array","items":{"type":"string"}},"t\#
        erms":{"anyOf":[{"type":"null"},{"type":"object","required":["validity","lease","rental","storage","playback\#
        ","kept","hdcp","securityLevel","blocks"],"properties":{"validity":{"type":"string"},"lease":{"type":["integ\#
        er","null"]},"rental":{"type":["integer","null"]},"storage":{"type":["integer","null"]},"playback":{"type":[\#
        "integer","null"]},"kept":{"type":"boolean"},"hdcp":{"enum":["none","type0","type1",null]},"securityLevel":{\#
        "enum":["audio","baseline","main",null]},"blocks":{"type":"array","items":{"type":"object","required":["tag"\#
        ,"name","value"],"properties":{"tag":{"type":"string"},"name":{"type":["string","null"]},"value":{"type":"st\#
        ring"}},"additionalProperties":false}}},"additionalProperties":false}]}},"additionalProperties":false},"Revo\#
        cation":{"type":"object","required":["kind","issuer","value","until","revokedAt","reason"],"properties":{"ki\#
        nd":{"enum":["jti","kid","iss","sub","hu","device","content","session"]},"issuer":{"type":["string","null"]}\#
        ,"value":{"type":"string"},"until":{"type":["string","null"]},"revokedAt":{"type":"string"},"reason":{"type"\#
        :"string"}},"example":{"kind":"sub","issuer":"https://portal.example","value":"pseudonym:0000000000000000000\#
        000000000000000000000000000000000000000000000","until":null,"revokedAt":"2026-01-31T12:00:00Z","reason":""}}\#
        ,"Revocations":{"type":"object","required":["revocations","isComplete"],"properties":{"revocations":{"type":\#
        "array","maxItems":1000,"items":{"$ref":"#/components/schemas/Revocation"}},"isComplete":{"type":"boolean","\#
        description":"False if there are more than 1,000."}},"additionalProperties":false},"RevocationAdded":{"allOf\#
        ":[{"$ref":"#/components/schemas/Revocation"}],"required":["isShared"],"properties":{"isShared":{"type":"boo\#
        lean","description":"Whether all nodes can know it already."}},"unevaluatedProperties":false,"example":{"kin\#
        d":"sub","issuer":"https://portal.example","value":"pseudonym:0000000000000000000000000000000000000000000000\#
        000000000000000000","until":null,"revokedAt":"2026-01-31T12:00:00Z","reason":"","isShared":true}},"Revocatio\#
        nOrder":{"type":"object","required":["kind","value"],"properties":{"kind":{"enum":["jti","kid","iss","sub","\#
        hu","device","content","session"]},"value":{"type":"string","minLength":1,"maxLength":200},"issuer":{"type":\#
        ["string","null"]},"until":{"type":["string","null"],"format":"date-time"},"reason":{"type":["string","null"\#
        ],"maxLength":200}},"additionalProperties":false,"example":{"kind":"sub","value":"viewer-7","reason":"charge\#
        d back"}},"Refusal":{"type":"object","required":["request_id","time","event","code","cause"],"properties":{"\#
        request_id":{"type":"string"},"time":{"type":"string","format":"date-time"},"event":{"type":"string"},"code"\#
        :{"type":"string"},"cause":{"type":"string","description":"What the client was not told."},"tag":{"type":"st\#
        ring"},"number":{"type":"string"},"spc_version":{"type":"string"}},"additionalProperties":false,"example":{"\#
        request_id":"5f0c2b7e91d3a846","time":"2026-01-31T12:00:00.000Z","event":"license_refused","code":"spc_rejec\#
        ted","cause":"integrity","tag":"0000000000000000","number":"0","spc_version":"2"}},"DevicesPage":{"type":"ob\#
        ject","required":["devices","next"],"properties":{"devices":{"type":"array","items":{"type":"object","requir\#
        ed":["device","addedAt","seenAt","keptUntil"],"properties":{"device":{"type":"string"},"addedAt":{"type":["s\#
        tring","null"]},"seenAt":{"type":["string","null"]},"keptUntil":{"type":["string","null"]}},"additionalPrope\#
        rties":false}},"next":{"type":["string","null"]}},"additionalProperties":false},"PlaybacksPage":{"type":"obj\#
        ect","required":["playbacks","next"],"properties":{"playbacks":{"type":"array","items":{"type":"object","req\#
        uired":["playback","group","device","session","content","playing","counted","heldUntil"],"properties":{"play\#
        back":{"type":"string"},"group":{"type":"string"},"device":{"type":"string"},"session":{"type":["string","nu\#
        ll"]},"content":{"type":["string","null"]},"playing":{"type":"boolean"},"counted":{"type":"boolean"},"heldUn\#
        til":{"type":"string"}},"additionalProperties":false}},"next":{"type":["string","null"]}},"additionalPropert\#
        ies":false},"RentalsPage":{"type":"object","required":["rentals","next"],"properties":{"rentals":{"type":"ar\#
        ray","items":{"type":"object","required":["content","openedAt","firstPlay","keptUntil"],"properties":{"conte\#
        nt":{"type":"string"},"openedAt":{"type":"string"},"firstPlay":{"type":["string","null"]},"keptUntil":{"type\#
        ":"string"}},"additionalProperties":false}},"next":{"type":["string","null"]}},"additionalProperties":false}\#
        }}}
        """#

    static let textOfPublicListener = #"""
        {"openapi":"3.1.0","info":{"title":"Latchkey","version":"0.1.0","summary":"A FairPlay Streaming licence serv\#
        er.","description":"Every route of the public listeners and, where an admin listener gives this description\#
        , of admin listeners. A method that is not listed for a path is refused with 405 and `Allow`, an unknown met\#
        hod with 501. HEAD is answered as GET, without a body. Refusals are `application/problem+json` unless a pat\#
        h says otherwise; `x-error-codes` lists the codes of an operation, beside those of HTTP itself, which the ro\#
        ot's `x-error-codes-of-http` lists for all of them. With `entitlement.dashIFStatus` the refusals of tokens t\#
        hat prove too little have the status 403 in place of 401. Paths with `x-listeners` `public` are for stranger\#
        s; those with `admin` alone are for operators.","license":{"name":"Apache-2.0","identifier":"Apache-2.0"}},"\#
        jsonSchemaDialect":"https://spec.openapis.org/oas/3.1/dialect/base","x-error-codes-of-http":["overloaded","b\#
        ad_request","request_timeout","body_too_large","uri_too_long","head_too_large","expectation_failed","not_imp\#
        lemented","version_not_supported","internal"],"servers":[{"url":"/","description":"The listener that gives t\#
        his description."}],"tags":[{"name":"licences","description":"Licences, renewals, sync reports, and what i\#
        s known of them."},{"name":"certificates","description":"Application certificates, for everyone."},{"name":"\#
        health","description":"For load balancers."},{"name":"description","description":"This description."},{"name\#
        ":"cross-origin","description":"What browsers ask for pages of other origins."},{"name":"expressplay","descr\#
        iption":"Token URLs for customers, in ExpressPlay's manner."},{"name":"packagers","description":"Keys for pa\#
        ckagers, over TLS, from the same machine, or behind a trusted proxy alone."}],"paths":{"/fps/license":{"x-li\#
        steners":["public"],"post":{"operationId":"requestLicence","tags":["licences"],"summary":"A licence, a renew\#
        al, an offline licence, a sync report or a report of ended sessions","security":[{"token":[]},{"nvAuthorizat\#
        ions":[]},{"axinomMessage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"\#
        expressPlayQuery":[]},{"tokenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#\#
        /components/parameters/Offline"},{"$ref":"#/components/parameters/Renew"},{"$ref":"#/components/parameters/P\#
        revious"},{"$ref":"#/components/parameters/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/co\#
        mponents/parameters/ContentIdHint"},{"$ref":"#/components/parameters/KIDHint"},{"$ref":"#/components/paramet\#
        ers/VideoId"},{"$ref":"#/components/parameters/KIDField"},{"$ref":"#/components/parameters/RenewField"}],"re\#
        questBody":{"$ref":"#/components/requestBodies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/res\#
        ponses/Licence"},"400":{"$ref":"#/components/responses/Player400"},"401":{"$ref":"#/components/responses/Pla\#
        yer401"},"403":{"$ref":"#/components/responses/Player403"},"404":{"$ref":"#/components/responses/Player404"}\#
        ,"408":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/responses/Player409"},"413":\#
        {"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref\#
        ":"#/components/responses/Problem417"},"422":{"$ref":"#/components/responses/Player422"},"429":{"$ref":"#/co\#
        mponents/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/component\#
        s/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/respo\#
        nses/Player503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["body_empty","body_unr\#
        ecognised","spc_is_certificate","spc_double_base64","spc_version_unsupported","spc_malformed","spc_certifica\#
        te_unknown","spc_rejected","spc_replayed","token_missing","token_ambiguous","token_malformed","token_alg","k\#
        id_unknown","kid_revoked","token_signature","token_expired","token_not_yet","token_life","token_audience","t\#
        oken_issuer","token_schema","token_used","token_revoked","subject_disabled","device_revoked","ip_denied","ge\#
        o_denied","content_mismatch","offline_not_allowed","right_not_started","right_ended","device_mismatch","devi\#
        ce_limit","concurrency_limit","session_expired","session_killed","key_not_found","key_store_timeout","rate_l\#
        imited","entitlement_denied","entitlement_unavailable","terms_not_expressible","security_level","storage_una\#
        vailable","clock_untrusted","module_unavailable"]},"options":{"operationId":"preflightLicence","tags":["cros\#
        s-origin"],"summary":"What a browser asks before it sends a request","security":[],"responses":{"204":{"$ref\#
        ":"#/components/responses/Preflight"},"400":{"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/com\#
        ponents/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/component\#
        s/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/resp\#
        onses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/P\#
        layer500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem5\#
        05"}}}},"/fps/license/{kid}":{"x-listeners":["public"],"parameters":[{"$ref":"#/components/parameters/PathKe\#
        yId"}],"post":{"operationId":"requestLicenceByKey","tags":["licences"],"summary":"A licence, a renewal, an o\#
        ffline licence, a sync report or a report of ended sessions","description":"Without `licensePaths` in the co\#
        nfiguration this path is served; with it, those that are listed there.","security":[{"token":[]},{"nvAuthori\#
        zations":[]},{"axinomMessage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]}\#
        ,{"expressPlayQuery":[]},{"tokenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref"\#
        :"#/components/parameters/Offline"},{"$ref":"#/components/parameters/Renew"},{"$ref":"#/components/parameter\#
        s/Previous"},{"$ref":"#/components/parameters/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#\#
        /components/parameters/ContentIdHint"},{"$ref":"#/components/parameters/KIDHint"},{"$ref":"#/components/para\#
        meters/VideoId"},{"$ref":"#/components/parameters/KIDField"},{"$ref":"#/components/parameters/RenewField"}],\#
        "requestBody":{"$ref":"#/components/requestBodies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/\#
        responses/Licence"},"400":{"$ref":"#/components/responses/Player400"},"401":{"$ref":"#/components/responses/\#
        Player401"},"403":{"$ref":"#/components/responses/Player403"},"404":{"$ref":"#/components/responses/Player40\#
        4"},"408":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/responses/Player409"},"41\#
        3":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$\#
        ref":"#/components/responses/Problem417"},"422":{"$ref":"#/components/responses/Player422"},"429":{"$ref":"#\#
        /components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/compon\#
        ents/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/re\#
        sponses/Player503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["body_empty","body_\#
        unrecognised","spc_is_certificate","spc_double_base64","spc_version_unsupported","spc_malformed","spc_certif\#
        icate_unknown","spc_rejected","spc_replayed","token_missing","token_ambiguous","token_malformed","token_alg"\#
        ,"kid_unknown","kid_revoked","token_signature","token_expired","token_not_yet","token_life","token_audience"\#
        ,"token_issuer","token_schema","token_used","token_revoked","subject_disabled","device_revoked","ip_denied",\#
        "geo_denied","content_mismatch","offline_not_allowed","right_not_started","right_ended","device_mismatch","d\#
        evice_limit","concurrency_limit","session_expired","session_killed","key_not_found","key_store_timeout","rat\#
        e_limited","entitlement_denied","entitlement_unavailable","terms_not_expressible","security_level","storage_\#
        unavailable","clock_untrusted","module_unavailable","not_found"]},"options":{"operationId":"preflightLicence\#
        ByKey","tags":["cross-origin"],"summary":"What a browser asks before it sends a request","security":[],"resp\#
        onses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"#/components/responses/Player400"},\#
        "408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":\#
        {"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref\#
        ":"#/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/co\#
        mponents/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/component\#
        s/responses/Problem505"}}}},"/fps/v1/license":{"x-listeners":["public"],"post":{"operationId":"requestLicenc\#
        eV1","tags":["licences"],"summary":"A licence, a renewal, an offline licence, a sync report or a report of e\#
        nded sessions","description":"Without `licensePaths` in the configuration this path is served; with it, thos\#
        e that are listed there.","security":[{"token":[]},{"nvAuthorizations":[]},{"axinomMessage":[]},{"axinomQuer\#
        y":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expressPlayQuery":[]},{"tokenQuery":[]},{"u\#
        serTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/components/parameters/Offline"},{"$ref":"#\#
        /components/parameters/Renew"},{"$ref":"#/components/parameters/Previous"},{"$ref":"#/components/parameters/\#
        Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/components/parameters/ContentIdHint"},{"$ref"\#
        :"#/components/parameters/KIDHint"},{"$ref":"#/components/parameters/VideoId"},{"$ref":"#/components/paramet\#
        ers/KIDField"},{"$ref":"#/components/parameters/RenewField"}],"requestBody":{"$ref":"#/components/requestBod\#
        ies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/responses/Licence"},"400":{"$ref":"#/component\#
        s/responses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"$ref":"#/components/respon\#
        ses/Player403"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/components/responses/Prob\#
        lem408"},"409":{"$ref":"#/components/responses/Player409"},"413":{"$ref":"#/components/responses/Problem413"\#
        },"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"422\#
        ":{"$ref":"#/components/responses/Player422"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref\#
        ":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/co\#
        mponents/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"},"505":{"$ref":"#/component\#
        s/responses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","spc_is_certificate","spc_double\#
        _base64","spc_version_unsupported","spc_malformed","spc_certificate_unknown","spc_rejected","spc_replayed","\#
        token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_revoked","token_signature"\#
        ,"token_expired","token_not_yet","token_life","token_audience","token_issuer","token_schema","token_used","t\#
        oken_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch","offline_not_a\#
        llowed","right_not_started","right_ended","device_mismatch","device_limit","concurrency_limit","session_expi\#
        red","session_killed","key_not_found","key_store_timeout","rate_limited","entitlement_denied","entitlement_u\#
        navailable","terms_not_expressible","security_level","storage_unavailable","clock_untrusted","module_unavail\#
        able","not_found"]},"options":{"operationId":"preflightLicenceV1","tags":["cross-origin"],"summary":"Wha\#
        t a browser asks before it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses\#
        /Preflight"},"400":{"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem\#
        408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},\#
        "417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{\#
        "$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":\#
        "#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},"/fps/v1/license/\#
        {kid}":{"x-listeners":["public"],"parameters":[{"$ref":"#/components/parameters/PathKeyId"}],"post":{"operat\#
        ionId":"requestLicenceByKeyV1","tags":["licences"],"summary":"A licence, a renewal, an offline licence, a sy\#
        nc report or a report of ended sessions","description":"Without `licensePaths` in the configuration this pat\#
        h is served; with it, those that are listed there.","security":[{"token":[]},{"nvAuthorizations":[]},{"axino\#
        mMessage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expressPlayQuery"\#
        :[]},{"tokenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/components/param\#
        eters/Offline"},{"$ref":"#/components/parameters/Renew"},{"$ref":"#/components/parameters/Previous"},{"$ref"\#
        :"#/components/parameters/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/components/paramete\#
        rs/ContentIdHint"},{"$ref":"#/components/parameters/KIDHint"},{"$ref":"#/components/parameters/VideoId"},{"$\#
        ref":"#/components/parameters/KIDField"},{"$ref":"#/components/parameters/RenewField"}],"requestBody":{"$ref\#
        ":"#/components/requestBodies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/responses/Licence"},\#
        "400":{"$ref":"#/components/responses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"\#
        $ref":"#/components/responses/Player403"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#\#
        /components/responses/Problem408"},"409":{"$ref":"#/components/responses/Player409"},"413":{"$ref":"#/compon\#
        ents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/r\#
        esponses/Problem417"},"422":{"$ref":"#/components/responses/Player422"},"429":{"$ref":"#/components/response\#
        s/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Playe\#
        r500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"},\#
        "505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","spc_i\#
        s_certificate","spc_double_base64","spc_version_unsupported","spc_malformed","spc_certificate_unknown","spc_\#
        rejected","spc_replayed","token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_\#
        revoked","token_signature","token_expired","token_not_yet","token_life","token_audience","token_issuer","tok\#
        en_schema","token_used","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","conten\#
        t_mismatch","offline_not_allowed","right_not_started","right_ended","device_mismatch","device_limit","concur\#
        rency_limit","session_expired","session_killed","key_not_found","key_store_timeout","rate_limited","entitlem\#
        ent_denied","entitlement_unavailable","terms_not_expressible","security_level","storage_unavailable","clock_\#
        untrusted","module_unavailable","not_found"]},"options":{"operationId":"preflightLicenceByKeyV1","tags":["cr\#
        oss-origin"],"summary":"What a browser asks before it sends a request","security":[],"responses":{"204":{"$r\#
        ef":"#/components/responses/Preflight"},"400":{"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/c\#
        omponents/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/compone\#
        nts/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/re\#
        sponses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses\#
        /Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Proble\#
        m505"}}}},"/{prefix}/contentlicenseservice/v1/licenses":{"x-listeners":["public"],"parameters":[{"$ref":"#/c\#
        omponents/parameters/Prefix"}],"post":{"operationId":"requestLicenceNAGRA","tags":["licences"],"summary":"\#
        A licence, a renewal, an offline licence, a sync report or a report of ended sessions","description":"Licenc\#
        es as `CkcMessage` and refusals with `errorCode`, in NAGRA's manner. Without `licensePaths` in the configura\#
        tion this path is served; with it, those that are listed there.","security":[{"token":[]},{"nvAuthorizations\#
        ":[]},{"axinomMessage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expr\#
        essPlayQuery":[]},{"tokenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/com\#
        ponents/parameters/Offline"},{"$ref":"#/components/parameters/Renew"},{"$ref":"#/components/parameters/Previ\#
        ous"},{"$ref":"#/components/parameters/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/compon\#
        ents/parameters/ContentIdHint"},{"$ref":"#/components/parameters/KIDHint"},{"$ref":"#/components/parameters/\#
        VideoId"},{"$ref":"#/components/parameters/KIDField"},{"$ref":"#/components/parameters/RenewField"}],"reques\#
        tBody":{"$ref":"#/components/requestBodies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/respons\#
        es/Licence"},"400":{"$ref":"#/components/responses/Player400"},"401":{"$ref":"#/components/responses/Player4\#
        01"},"403":{"$ref":"#/components/responses/Player403"},"404":{"$ref":"#/components/responses/Player404"},"40\#
        8":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/responses/Player409"},"413":{"$r\#
        ef":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#\#
        /components/responses/Problem417"},"422":{"$ref":"#/components/responses/Player422"},"429":{"$ref":"#/compon\#
        ents/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/re\#
        sponses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses\#
        /Player503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["body_empty","body_unrecog\#
        nised","spc_is_certificate","spc_double_base64","spc_version_unsupported","spc_malformed","spc_certificate_u\#
        nknown","spc_rejected","spc_replayed","token_missing","token_ambiguous","token_malformed","token_alg","kid_u\#
        nknown","kid_revoked","token_signature","token_expired","token_not_yet","token_life","token_audience","token\#
        _issuer","token_schema","token_used","token_revoked","subject_disabled","device_revoked","ip_denied","geo_de\#
        nied","content_mismatch","offline_not_allowed","right_not_started","right_ended","device_mismatch","device_l\#
        imit","concurrency_limit","session_expired","session_killed","key_not_found","key_store_timeout","rate_limit\#
        ed","entitlement_denied","entitlement_unavailable","terms_not_expressible","security_level","storage_unavail\#
        able","clock_untrusted","module_unavailable","not_found"]},"options":{"operationId":"preflightLicenceNAGRA",\#
        "tags":["cross-origin"],"summary":"What a browser asks before it sends a request","security":[],"responses":\#
        {"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"#/components/responses/Player400"},"408":{\#
        "$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref"\#
        :"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/co\#
        mponents/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/component\#
        s/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/respo\#
        nses/Problem505"}}}},"/hms/fp/rights/":{"x-listeners":["public"],"post":{"operationId":"redeemExpressPlayTok\#
        en","tags":["licences"],"summary":"A licence, a renewal, an offline licence, a sync report or a report of en\#
        ded sessions","description":"The same as `/fps/license`, with refusals in ExpressPlay's manner. `expressPlay\#
        .redeemPaths` may name other paths in its place.","security":[{"token":[]},{"nvAuthorizations":[]},{"axinomM\#
        essage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expressPlayQuery":[\#
        ]},{"tokenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/components/paramet\#
        ers/Offline"},{"$ref":"#/components/parameters/Renew"},{"$ref":"#/components/parameters/Previous"},{"$ref":"\#
        #/components/parameters/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/components/parameters\#
        /ContentIdHint"},{"$ref":"#/components/parameters/KIDHint"},{"$ref":"#/components/parameters/VideoId"},{"$re\#
        f":"#/components/parameters/KIDField"},{"$ref":"#/components/parameters/RenewField"}],"requestBody":{"$ref":\#
        "#/components/requestBodies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/responses/Licence"},"4\#
        00":{"$ref":"#/components/responses/ExpressPlay400"},"401":{"$ref":"#/components/responses/ExpressPlay401"},\#
        "403":{"$ref":"#/components/responses/ExpressPlay403"},"404":{"$ref":"#/components/responses/ExpressPlay404"\#
        },"408":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/responses/ExpressPlay409"},\#
        "413":{"$ref":"#/components/responses/ExpressPlay413"},"414":{"$ref":"#/components/responses/Problem414"},"4\#
        17":{"$ref":"#/components/responses/Problem417"},"422":{"$ref":"#/components/responses/ExpressPlay422"},"429\#
        ":{"$ref":"#/components/responses/ExpressPlay429"},"431":{"$ref":"#/components/responses/Problem431"},"500":\#
        {"$ref":"#/components/responses/ExpressPlay500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"\#
        $ref":"#/components/responses/ExpressPlay503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-\#
        codes":["body_empty","body_unrecognised","spc_is_certificate","spc_double_base64","spc_version_unsupported",\#
        "spc_malformed","spc_certificate_unknown","spc_rejected","spc_replayed","token_missing","token_ambiguous","t\#
        oken_malformed","token_alg","kid_unknown","kid_revoked","token_signature","token_expired","token_not_yet","t\#
        oken_life","token_audience","token_issuer","token_schema","token_used","token_revoked","subject_disabled","d\#
        evice_revoked","ip_denied","geo_denied","content_mismatch","offline_not_allowed","right_not_started","right_\#
        ended","device_mismatch","device_limit","concurrency_limit","session_expired","session_killed","key_not_foun\#
        d","key_store_timeout","rate_limited","entitlement_denied","entitlement_unavailable","terms_not_expressible"\#
        ,"security_level","storage_unavailable","clock_untrusted","module_unavailable","not_found"]},"options":{"ope\#
        rationId":"preflightRedeem","tags":["cross-origin"],"summary":"What a browser asks before it sends a request\#
        ","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"#/components/r\#
        esponses/ExpressPlay400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/res\#
        ponses/ExpressPlay413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/respo\#
        nses/Problem417"},"429":{"$ref":"#/components/responses/ExpressPlay429"},"431":{"$ref":"#/components/respons\#
        es/Problem431"},"500":{"$ref":"#/components/responses/ExpressPlay500"},"501":{"$ref":"#/components/responses\#
        /Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},"/fps/certificate":{"x-listeners":["publ\#
        ic"],"get":{"operationId":"getCertificate","tags":["certificates"],"summary":"The application certificate","\#
        description":"Without a query the bundle of the first credential: its 1024-bit certificate, followed by it\#
        s 2048-bit one. Unknown parameters say nothing.","security":[],"parameters":[{"$ref":"#/components/parameter\#
        s/Credential"},{"$ref":"#/components/parameters/Size"},{"$ref":"#/components/parameters/CertificateFormat"},\#
        {"$ref":"#/components/parameters/IfNoneMatch"}],"responses":{"200":{"$ref":"#/components/responses/Certifica\#
        te"},"304":{"$ref":"#/components/responses/CertificateNotModified"},"400":{"$ref":"#/components/responses/Pl\#
        ayer400"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/components/responses/Problem408\#
        "},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"41\#
        7":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$r\#
        ef":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/\#
        components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_\#
        found"]},"head":{"operationId":"headGetCertificate","tags":["certificates"],"summary":"The fields of the ans\#
        wer to GET","security":[],"parameters":[{"$ref":"#/components/parameters/Credential"},{"$ref":"#/components/\#
        parameters/Size"},{"$ref":"#/components/parameters/CertificateFormat"},{"$ref":"#/components/parameters/IfNo\#
        neMatch"}],"responses":{"200":{"$ref":"#/components/responses/Certificate"},"304":{"$ref":"#/components/resp\#
        onses/CertificateNotModified"},"400":{"$ref":"#/components/responses/Player400"},"404":{"$ref":"#/components\#
        /responses/Player404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/respon\#
        ses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Pr\#
        oblem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem43\#
        1"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"50\#
        5":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_found"]},"options":{"operationId":"pr\#
        eflightGetCertificate","tags":["cross-origin"],"summary":"What a browser asks before it sends a request","se\#
        curity":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"#/components/respon\#
        ses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Pro\#
        blem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem41\#
        7"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"50\#
        0":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$r\#
        ef":"#/components/responses/Problem505"}}}},"/fps/v1/certificate":{"x-listeners":["public"],"get":{"operatio\#
        nId":"getCertificateV1","tags":["certificates"],"summary":"The application certificate","description":"Witho\#
        ut a query the bundle of the first credential: its 1024-bit certificate, followed by its 2048-bit one. Unkno\#
        wn parameters say nothing.","security":[],"parameters":[{"$ref":"#/components/parameters/Credential"},{"$ref\#
        ":"#/components/parameters/Size"},{"$ref":"#/components/parameters/CertificateFormat"},{"$ref":"#/components\#
        /parameters/IfNoneMatch"}],"responses":{"200":{"$ref":"#/components/responses/Certificate"},"304":{"$ref":"#\#
        /components/responses/CertificateNotModified"},"400":{"$ref":"#/components/responses/Player400"},"404":{"$re\#
        f":"#/components/responses/Player404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/c\#
        omponents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/compone\#
        nts/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/res\#
        ponses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/\#
        Problem501"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_found"]},"head":{"ope\#
        rationId":"headGetCertificateV1","tags":["certificates"],"summary":"The fields of the answer to GET","securi\#
        ty":[],"parameters":[{"$ref":"#/components/parameters/Credential"},{"$ref":"#/components/parameters/Size"},{\#
        "$ref":"#/components/parameters/CertificateFormat"},{"$ref":"#/components/parameters/IfNoneMatch"}],"respons\#
        es":{"200":{"$ref":"#/components/responses/Certificate"},"304":{"$ref":"#/components/responses/CertificateNo\#
        tModified"},"400":{"$ref":"#/components/responses/Player400"},"404":{"$ref":"#/components/responses/Player40\#
        4"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"4\#
        14":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"\#
        $ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"\#
        #/components/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/compo\#
        nents/responses/Problem505"}},"x-error-codes":["not_found"]},"options":{"operationId":"preflightGetCertifica\#
        teV1","tags":["cross-origin"],"summary":"What a browser asks before it sends a request","security":[],"respo\#
        nses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"#/components/responses/Player400"},"\#
        408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{\#
        "$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref"\#
        :"#/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/com\#
        ponents/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components\#
        /responses/Problem505"}}}},"/{prefix}/contentlicenseservice/v1/certificates":{"x-listeners":["public"],"para\#
        meters":[{"$ref":"#/components/parameters/Prefix"}],"get":{"operationId":"getCertificateNAGRA","tags":["cert\#
        ificates"],"summary":"The application certificate","description":"Without a query the bundle of the first cr\#
        edential: its 1024-bit certificate, followed by its 2048-bit one. Unknown parameters say nothing.","security\#
        ":[],"parameters":[{"$ref":"#/components/parameters/Credential"},{"$ref":"#/components/parameters/Size"},{"$\#
        ref":"#/components/parameters/CertificateFormat"},{"$ref":"#/components/parameters/IfNoneMatch"}],"responses\#
        ":{"200":{"$ref":"#/components/responses/Certificate"},"304":{"$ref":"#/components/responses/CertificateNotM\#
        odified"},"400":{"$ref":"#/components/responses/Player400"},"404":{"$ref":"#/components/responses/Player404"\#
        },"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414\#
        ":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$r\#
        ef":"#/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/\#
        components/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/compone\#
        nts/responses/Problem505"}},"x-error-codes":["not_found"]},"head":{"operationId":"headGetCertificateNAGRA","\#
        tags":["certificates"],"summary":"The fields of the answer to GET","security":[],"parameters":[{"$ref":"#/co\#
        mponents/parameters/Credential"},{"$ref":"#/components/parameters/Size"},{"$ref":"#/components/parameters/Ce\#
        rtificateFormat"},{"$ref":"#/components/parameters/IfNoneMatch"}],"responses":{"200":{"$ref":"#/components/r\#
        esponses/Certificate"},"304":{"$ref":"#/components/responses/CertificateNotModified"},"400":{"$ref":"#/compo\#
        nents/responses/Player400"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/components/re\#
        sponses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/response\#
        s/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Play\#
        er429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"}\#
        ,"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}},"x-e\#
        rror-codes":["not_found"]},"options":{"operationId":"preflightGetCertificateNAGRA","tags":["cross-origin"],"\#
        summary":"What a browser asks before it sends a request","security":[],"responses":{"204":{"$ref":"#/compone\#
        nts/responses/Preflight"},"400":{"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/resp\#
        onses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/\#
        Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player\#
        429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"\#
        501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},"/fp\#
        s/licenses/query":{"x-listeners":["public"],"post":{"operationId":"queryLicences","tags":["licences"],"summa\#
        ry":"Until when licences are good, and when to renew them","security":[{"token":[]},{"nvAuthorizations":[]},\#
        {"axinomMessage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expressPla\#
        yQuery":[]},{"tokenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"requestBody":{"required":true,"co\#
        ntent":{"application/json":{"schema":{"$ref":"#/components/schemas/LicenceQuery"}}}},"responses":{"200":{"de\#
        scription":"The state of each licence, as far as it was given to this subject.","headers":{"X-Request-Id":{"\#
        $ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"conte\#
        nt":{"application/json":{"schema":{"$ref":"#/components/schemas/LicenceStates"}}}},"400":{"$ref":"#/componen\#
        ts/responses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"$ref":"#/components/respo\#
        nses/Player403"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Pr\#
        oblem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem4\#
        17"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"5\#
        00":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$\#
        ref":"#/components/responses/Player503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes"\#
        :["body_empty","body_unrecognised","token_missing","token_ambiguous","token_malformed","token_alg","kid_unkn\#
        own","kid_revoked","token_signature","token_expired","token_not_yet","token_life","token_audience","token_is\#
        suer","token_schema","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","content_m\#
        ismatch","session_expired","session_killed","key_store_timeout","rate_limited","entitlement_denied","entitle\#
        ment_unavailable","storage_unavailable","clock_untrusted"]},"options":{"operationId":"preflightQuery","tags"\#
        :["cross-origin"],"summary":"What a browser asks before it sends a request","security":[],"responses":{"204"\#
        :{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"#/components/responses/Player400"},"408":{"$ref"\#
        :"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/co\#
        mponents/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/componen\#
        ts/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/resp\#
        onses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/P\#
        roblem505"}}}},"/fps/challenge":{"x-listeners":["public"],"post":{"operationId":"issueChallenge","tags":["li\#
        cences"],"summary":"A number for the next sync report","security":[{"token":[]},{"nvAuthorizations":[]},{"ax\#
        inomMessage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expressPlayQue\#
        ry":[]},{"tokenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"responses":{"200":{"description":"A c\#
        hallenge, which is accepted once.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cach\#
        e-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":"#/\#
        components/schemas/Challenge"}}}},"400":{"$ref":"#/components/responses/Player400"},"401":{"$ref":"#/compone\#
        nts/responses/Player401"},"403":{"$ref":"#/components/responses/Player403"},"408":{"$ref":"#/components/resp\#
        onses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/\#
        Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player\#
        429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"\#
        501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"},"505":{"\#
        $ref":"#/components/responses/Problem505"}},"x-error-codes":["token_missing","token_ambiguous","token_malfor\#
        med","token_alg","kid_unknown","kid_revoked","token_signature","token_expired","token_not_yet","token_life",\#
        "token_audience","token_issuer","token_schema","token_revoked","subject_disabled","device_revoked","ip_denie\#
        d","geo_denied","content_mismatch","session_expired","session_killed","rate_limited","entitlement_denied","e\#
        ntitlement_unavailable","storage_unavailable","clock_untrusted"]},"options":{"operationId":"preflightChallen\#
        ge","tags":["cross-origin"],"summary":"What a browser asks before it sends a request","security":[],"respons\#
        es":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"#/components/responses/Player400"},"40\#
        8":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$\#
        ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"\#
        #/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/compo\#
        nents/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/r\#
        esponses/Problem505"}}}},"/livez":{"x-listeners":["public","admin"],"get":{"operationId":"getLiveness","tags\#
        ":["health"],"summary":"Whether the daemon lives","security":[],"responses":{"200":{"description":"It lives.\#
        ","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/\#
        headers/CacheControl"}},"content":{"text/plain; charset=utf-8":{"schema":{"type":"string","pattern":"^ok\\n$\#
        "}}}},"400":{"$ref":"#/components/responses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},\#
        "413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":\#
        {"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref\#
        ":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/c\#
        omponents/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}},"head":{"operationId":\#
        "headGetLiveness","tags":["health"],"summary":"The fields of the answer to GET","security":[],"responses":{"\#
        200":{"description":"It lives.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-C\#
        ontrol":{"$ref":"#/components/headers/CacheControl"}},"content":{"text/plain; charset=utf-8":{"schema":{"typ\#
        e":"string","pattern":"^ok\\n$"}}}},"400":{"$ref":"#/components/responses/Problem400"},"408":{"$ref":"#/comp\#
        onents/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components\#
        /responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/respo\#
        nses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/P\#
        roblem500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem\#
        505"}}},"options":{"operationId":"preflightLiveness","tags":["cross-origin"],"summary":"What a browser ask\#
        s before it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"4\#
        00":{"$ref":"#/components/responses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"\#
        $ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":\#
        "#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/com\#
        ponents/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/component\#
        s/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},"/readyz":{"x-listeners":["pu\#
        blic","admin"],"get":{"operationId":"getReadiness","tags":["health"],"summary":"Whether the daemon wants req\#
        uests","security":[],"responses":{"200":{"description":"It does. Admin listeners name what is degraded i\#
        n a second line.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref\#
        ":"#/components/headers/CacheControl"}},"content":{"text/plain; charset=utf-8":{"schema":{"type":"string","p\#
        attern":"^ready\\n"}}}},"503":{"description":"It stops, or it can issue no licence at all.","headers":{"X-Re\#
        quest-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheContr\#
        ol"}},"content":{"text/plain; charset=utf-8":{"schema":{"type":"string","pattern":"^not ready\\n"}}}},"400":\#
        {"$ref":"#/components/responses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref\#
        ":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/c\#
        omponents/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/compone\#
        nts/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/re\#
        sponses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}},"head":{"operationId":"headGetRead\#
        iness","tags":["health"],"summary":"The fields of the answer to GET","security":[],"responses":{"200":{"desc\#
        ription":"It does. Admin listeners name what is degraded in a second line.","headers":{"X-Request-Id":{"$ref\#
        ":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":\#
        {"text/plain; charset=utf-8":{"schema":{"type":"string","pattern":"^ready\\n"}}}},"503":{"description":"It s\#
        tops, or it can issue no licence at all.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"\#
        },"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"text/plain; charset=utf-8":{"sch\#
        ema":{"type":"string","pattern":"^not ready\\n"}}}},"400":{"$ref":"#/components/responses/Problem400"},"408"\#
        :{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$re\#
        f":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/\#
        components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/compon\#
        ents/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/r\#
        esponses/Problem505"}}},"options":{"operationId":"preflightReadiness","tags":["cross-origin"],"summary":"Wha\#
        t a browser asks before it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses\#
        /Preflight"},"400":{"$ref":"#/components/responses/Problem400"},"408":{"$ref":"#/components/responses/Proble\#
        m408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"}\#
        ,"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431"\#
        :{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$re\#
        f":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},"/openapi.json\#
        ":{"x-listeners":["public","admin"],"get":{"operationId":"getDescription","tags":["description"],"summary":"\#
        This description","description":"On admin listeners with an admin token, as everything there but health.","s\#
        ecurity":[{},{"adminToken":[]}],"responses":{"200":{"description":"OpenAPI 3.1. The public listener describe\#
        s its own routes alone; an admin listener describes those of both.","headers":{"X-Request-Id":{"$ref":"#/com\#
        ponents/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"applic\#
        ation/json":{"schema":{"type":"object","required":["openapi","info","paths"],"properties":{"openapi":{"type"\#
        :"string"}}}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/responses/Pro\#
        blem401"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem41\#
        3"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"4\#
        29":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"\#
        $ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":\#
        "#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","rate_limited"]},"head":{"opera\#
        tionId":"headGetDescription","tags":["description"],"summary":"The fields of the answer to GET","security":[\#
        {},{"adminToken":[]}],"responses":{"200":{"description":"OpenAPI 3.1. The public listener describes its ow\#
        n routes alone; an admin listener describes those of both.","headers":{"X-Request-Id":{"$ref":"#/components/\#
        headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/js\#
        on":{"schema":{"type":"object","required":["openapi","info","paths"],"properties":{"openapi":{"type":"string\#
        "}}}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"\#
        },"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414\#
        ":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$r\#
        ef":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#\#
        /components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/compo\#
        nents/responses/Problem505"}},"x-error-codes":["admin_token_invalid","rate_limited"]},"options":{"operationI\#
        d":"preflightDescription","tags":["cross-origin"],"summary":"What a browser asks before it sends a request",\#
        "security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"#/components/res\#
        ponses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses\#
        /Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Probl\#
        em417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"\#
        },"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"505\#
        ":{"$ref":"#/components/responses/Problem505"}}}},"/hms/fp/token":{"x-listeners":["public"],"get":{"operatio\#
        nId":"makeToken","tags":["expressplay"],"summary":"A token URL, by GET","description":"404 unless `expressPl\#
        ay.customers` lists customers.","security":[{"customerAuthenticator":[]}],"parameters":[{"$ref":"#/component\#
        s/parameters/FormErrorFormat"},{"$ref":"#/components/parameters/FormGeneralFlags"},{"$ref":"#/components/par\#
        ameters/FormContentKey"},{"$ref":"#/components/parameters/FormKek"},{"$ref":"#/components/parameters/FormEk"\#
        },{"$ref":"#/components/parameters/FormKid"},{"$ref":"#/components/parameters/FormIv"},{"$ref":"#/components\#
        /parameters/FormRentalDuration"},{"$ref":"#/components/parameters/FormFpExtension"},{"$ref":"#/components/pa\#
        rameters/FormExpirationTime"},{"$ref":"#/components/parameters/FormCookie"},{"$ref":"#/components/parameters\#
        /FormLatchkeylease"},{"$ref":"#/components/parameters/FormLatchkeydevice"},{"$ref":"#/components/parameters/\#
        FormLatchkeybind"},{"$ref":"#/components/parameters/FormLatchkeyuses"},{"$ref":"#/components/parameters/Form\#
        Latchkeyhdcp"},{"$ref":"#/components/parameters/FormRightsType"},{"$ref":"#/components/parameters/FormRental\#
        periodEndTime"},{"$ref":"#/components/parameters/FormRentalplayDuration"},{"$ref":"#/components/parameters/F\#
        ormAnalogVideoOPL"},{"$ref":"#/components/parameters/FormCompressedDigitalAudioOPL"},{"$ref":"#/components/p\#
        arameters/FormCompressedDigitalVideoOPL"},{"$ref":"#/components/parameters/FormUncompressedDigitalAudioOPL"}\#
        ,{"$ref":"#/components/parameters/FormUncompressedDigitalVideoOPL"},{"$ref":"#/components/parameters/FormPrF\#
        lag"},{"$ref":"#/components/parameters/FormUseHttps"}],"responses":{"200":{"description":"One URL with the t\#
        oken, for the app.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$r\#
        ef":"#/components/headers/CacheControl"}},"content":{"text/uri-list":{"schema":{"type":"string","format":"ur\#
        i"}}}},"400":{"$ref":"#/components/responses/ExpressPlay400"},"401":{"$ref":"#/components/responses/ExpressP\#
        lay401"},"403":{"$ref":"#/components/responses/ExpressPlay403"},"404":{"$ref":"#/components/responses/Expres\#
        sPlay404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/ExpressP\#
        lay413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417\#
        "},"429":{"$ref":"#/components/responses/ExpressPlay429"},"431":{"$ref":"#/components/responses/Problem431"}\#
        ,"500":{"$ref":"#/components/responses/ExpressPlay500"},"501":{"$ref":"#/components/responses/Problem501"},"\#
        503":{"$ref":"#/components/responses/ExpressPlay503"},"505":{"$ref":"#/components/responses/Problem505"}},"x\#
        -error-codes":["not_found"]},"post":{"operationId":"makeTokenByForm","tags":["expressplay"],"summary":"A tok\#
        en URL, by a form","description":"The authenticator is a member of the form, or a parameter of the query.","\#
        security":[{},{"customerAuthenticator":[]}],"parameters":[{"$ref":"#/components/parameters/FormErrorFormat"}\#
        ,{"$ref":"#/components/parameters/FormGeneralFlags"},{"$ref":"#/components/parameters/FormContentKey"},{"$re\#
        f":"#/components/parameters/FormKek"},{"$ref":"#/components/parameters/FormEk"},{"$ref":"#/components/parame\#
        ters/FormKid"},{"$ref":"#/components/parameters/FormIv"},{"$ref":"#/components/parameters/FormRentalDuration\#
        "},{"$ref":"#/components/parameters/FormFpExtension"},{"$ref":"#/components/parameters/FormExpirationTime"},\#
        {"$ref":"#/components/parameters/FormCookie"},{"$ref":"#/components/parameters/FormLatchkeylease"},{"$ref":"\#
        #/components/parameters/FormLatchkeydevice"},{"$ref":"#/components/parameters/FormLatchkeybind"},{"$ref":"#/\#
        components/parameters/FormLatchkeyuses"},{"$ref":"#/components/parameters/FormLatchkeyhdcp"},{"$ref":"#/comp\#
        onents/parameters/FormRightsType"},{"$ref":"#/components/parameters/FormRentalperiodEndTime"},{"$ref":"#/com\#
        ponents/parameters/FormRentalplayDuration"},{"$ref":"#/components/parameters/FormAnalogVideoOPL"},{"$ref":"#\#
        /components/parameters/FormCompressedDigitalAudioOPL"},{"$ref":"#/components/parameters/FormCompressedDigita\#
        lVideoOPL"},{"$ref":"#/components/parameters/FormUncompressedDigitalAudioOPL"},{"$ref":"#/components/paramet\#
        ers/FormUncompressedDigitalVideoOPL"},{"$ref":"#/components/parameters/FormPrFlag"},{"$ref":"#/components/pa\#
        rameters/FormUseHttps"}],"requestBody":{"required":false,"content":{"application/x-www-form-urlencoded":{"sc\#
        hema":{"$ref":"#/components/schemas/TokenForm"}}}},"responses":{"200":{"description":"One URL with the token\#
        , for the app.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":\#
        "#/components/headers/CacheControl"}},"content":{"text/uri-list":{"schema":{"type":"string","format":"uri"}}\#
        }},"400":{"$ref":"#/components/responses/ExpressPlay400"},"401":{"$ref":"#/components/responses/ExpressPlay4\#
        01"},"403":{"$ref":"#/components/responses/ExpressPlay403"},"404":{"$ref":"#/components/responses/ExpressPla\#
        y404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/ExpressPlay4\#
        13"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"\#
        429":{"$ref":"#/components/responses/ExpressPlay429"},"431":{"$ref":"#/components/responses/Problem431"},"50\#
        0":{"$ref":"#/components/responses/ExpressPlay500"},"501":{"$ref":"#/components/responses/Problem501"},"503"\#
        :{"$ref":"#/components/responses/ExpressPlay503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-err\#
        or-codes":["not_found"]},"options":{"operationId":"preflightToken","tags":["cross-origin"],"summary":"Wha\#
        t a browser asks before it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses\#
        /Preflight"},"400":{"$ref":"#/components/responses/ExpressPlay400"},"408":{"$ref":"#/components/responses/Pr\#
        oblem408"},"413":{"$ref":"#/components/responses/ExpressPlay413"},"414":{"$ref":"#/components/responses/Prob\#
        lem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/ExpressPla\#
        y429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/ExpressPlay5\#
        00"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}\#
        },"/sees/SEESServlet":{"x-listeners":["public"],"post":{"operationId":"askEntitlementServer","tags":["expres\#
        splay"],"summary":"A token URL by content, for back ends","description":"404 unless `expressPlay.sees` is co\#
        nfigured.","security":[{"entitlementServer":[]},{"entitlementServerCertificate":[]}],"requestBody":{"require\#
        d":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/SEESQuestion"}}}},"responses":\#
        {"200":{"description":"A token URL, or why there is none.","headers":{"X-Request-Id":{"$ref":"#/components/h\#
        eaders/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"},"X-Error-Code":{"$ref":"#/co\#
        mponents/headers/ErrorCode"}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas/SEESAnsw\#
        er"}}}},"400":{"$ref":"#/components/responses/SEES400"},"401":{"$ref":"#/components/responses/SEES401"},"403\#
        ":{"$ref":"#/components/responses/SEES403"},"404":{"$ref":"#/components/responses/SEES404"},"408":{"$ref":"#\#
        /components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/compo\#
        nents/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/\#
        responses/SEES429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses\#
        /SEES500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/SEES503"\#
        },"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_found"]},"options":{"operationId\#
        ":"preflightEntitlementServer","tags":["cross-origin"],"summary":"What a browser asks before it sends a requ\#
        est","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"#/component\#
        s/responses/ExpressPlay400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/\#
        responses/ExpressPlay413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/re\#
        sponses/Problem417"},"429":{"$ref":"#/components/responses/ExpressPlay429"},"431":{"$ref":"#/components/resp\#
        onses/Problem431"},"500":{"$ref":"#/components/responses/ExpressPlay500"},"501":{"$ref":"#/components/respon\#
        ses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},"/speke":{"x-listeners":["public"],"p\#
        ost":{"operationId":"exchangeKeys","tags":["packagers"],"summary":"Keys by SPEKE, of the version that the fi\#
        eld names","security":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":\#
        []}],"parameters":[{"$ref":"#/components/parameters/SPEKEVersion"}],"requestBody":{"required":true,"content"\#
        :{"application/xml":{"schema":{"$ref":"#/components/schemas/CPIXDocument"},"example":"<cpix:CPIX xmlns:cpix=\#
        \"urn:dashif:org:cpix\" contentId=\"movie-1\" version=\"2.3\"/>"},"text/xml":{"schema":{"$ref":"#/components\#
        /schemas/CPIXDocument"}}}},"responses":{"200":{"$ref":"#/components/responses/FilledCPIX"},"400":{"$ref":"#/\#
        components/responses/SPEKE400"},"401":{"$ref":"#/components/responses/SPEKE401"},"403":{"$ref":"#/components\#
        /responses/SPEKE403"},"408":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/respons\#
        es/SPEKE409"},"413":{"$ref":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Problem\#
        414"},"415":{"$ref":"#/components/responses/SPEKE415"},"417":{"$ref":"#/components/responses/Problem417"},"4\#
        22":{"$ref":"#/components/responses/SPEKE422"},"429":{"$ref":"#/components/responses/SPEKE429"},"431":{"$ref\#
        ":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/SPEKE500"},"501":{"$ref":"#/com\#
        ponents/responses/Problem501"},"503":{"$ref":"#/components/responses/SPEKE503"},"505":{"$ref":"#/components/\#
        responses/Problem505"}},"x-error-codes":["packager_invalid","packager_forbidden","cpix_rejected","media_type\#
        _unsupported","key_lost","rate_limited","storage_unavailable"]}},"/speke/v1.0/copyProtection":{"x-listeners"\#
        :["public"],"post":{"operationId":"exchangeKeysV1","tags":["packagers"],"summary":"Keys by SPEKE v1","securi\#
        ty":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"requestBody"\#
        :{"required":true,"content":{"application/xml":{"schema":{"$ref":"#/components/schemas/CPIXDocument"},"examp\#
        le":"<cpix:CPIX xmlns:cpix=\"urn:dashif:org:cpix\" contentId=\"movie-1\" version=\"2.3\"/>"},"text/xml":{"sc\#
        hema":{"$ref":"#/components/schemas/CPIXDocument"}}}},"responses":{"200":{"$ref":"#/components/responses/Fil\#
        ledCPIX"},"400":{"$ref":"#/components/responses/SPEKE400"},"401":{"$ref":"#/components/responses/SPEKE401"},\#
        "403":{"$ref":"#/components/responses/SPEKE403"},"408":{"$ref":"#/components/responses/Problem408"},"409":{"\#
        $ref":"#/components/responses/SPEKE409"},"413":{"$ref":"#/components/responses/SPEKE413"},"414":{"$ref":"#/c\#
        omponents/responses/Problem414"},"415":{"$ref":"#/components/responses/SPEKE415"},"417":{"$ref":"#/component\#
        s/responses/Problem417"},"422":{"$ref":"#/components/responses/SPEKE422"},"429":{"$ref":"#/components/respon\#
        ses/SPEKE429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/SPEK\#
        E500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/SPEKE503"},"\#
        505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["packager_invalid","packager_forbidden",\#
        "cpix_rejected","media_type_unsupported","key_lost","rate_limited","storage_unavailable"]}},"/speke/v2.0/cop\#
        yProtection":{"x-listeners":["public"],"post":{"operationId":"exchangeKeysV20","tags":["packagers"],"summary\#
        ":"Keys by SPEKE v2.0","security":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerC\#
        ertificate":[]}],"parameters":[{"$ref":"#/components/parameters/SPEKEVersion20"}],"requestBody":{"required":\#
        true,"content":{"application/xml":{"schema":{"$ref":"#/components/schemas/CPIXDocument"},"example":"<cpix:CP\#
        IX xmlns:cpix=\"urn:dashif:org:cpix\" contentId=\"movie-1\" version=\"2.3\"/>"},"text/xml":{"schema":{"$ref"\#
        :"#/components/schemas/CPIXDocument"}}}},"responses":{"200":{"$ref":"#/components/responses/FilledCPIX"},"40\#
        0":{"$ref":"#/components/responses/SPEKE400"},"401":{"$ref":"#/components/responses/SPEKE401"},"403":{"$ref"\#
        :"#/components/responses/SPEKE403"},"408":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/comp\#
        onents/responses/SPEKE409"},"413":{"$ref":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/res\#
        ponses/Problem414"},"415":{"$ref":"#/components/responses/SPEKE415"},"417":{"$ref":"#/components/responses/P\#
        roblem417"},"422":{"$ref":"#/components/responses/SPEKE422"},"429":{"$ref":"#/components/responses/SPEKE429"\#
        },"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/SPEKE500"},"501":\#
        {"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/SPEKE503"},"505":{"$ref":\#
        "#/components/responses/Problem505"}},"x-error-codes":["packager_invalid","packager_forbidden","cpix_rejecte\#
        d","media_type_unsupported","key_lost","rate_limited","storage_unavailable"]}},"/speke/v2.1/copyProtection":\#
        {"x-listeners":["public"],"post":{"operationId":"exchangeKeysV21","tags":["packagers"],"summary":"Keys by SP\#
        EKE v2.1","security":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[\#
        ]}],"parameters":[{"$ref":"#/components/parameters/SPEKEVersion21"}],"requestBody":{"required":true,"content\#
        ":{"application/xml":{"schema":{"$ref":"#/components/schemas/CPIXDocument"},"example":"<cpix:CPIX xmlns:cpix\#
        =\"urn:dashif:org:cpix\" contentId=\"movie-1\" version=\"2.3\"/>"},"text/xml":{"schema":{"$ref":"#/component\#
        s/schemas/CPIXDocument"}}}},"responses":{"200":{"$ref":"#/components/responses/FilledCPIX"},"400":{"$ref":"#\#
        /components/responses/SPEKE400"},"401":{"$ref":"#/components/responses/SPEKE401"},"403":{"$ref":"#/component\#
        s/responses/SPEKE403"},"408":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/respon\#
        ses/SPEKE409"},"413":{"$ref":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Proble\#
        m414"},"415":{"$ref":"#/components/responses/SPEKE415"},"417":{"$ref":"#/components/responses/Problem417"},"\#
        422":{"$ref":"#/components/responses/SPEKE422"},"429":{"$ref":"#/components/responses/SPEKE429"},"431":{"$re\#
        f":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/SPEKE500"},"501":{"$ref":"#/co\#
        mponents/responses/Problem501"},"503":{"$ref":"#/components/responses/SPEKE503"},"505":{"$ref":"#/components\#
        /responses/Problem505"}},"x-error-codes":["packager_invalid","packager_forbidden","cpix_rejected","media_typ\#
        e_unsupported","key_lost","rate_limited","storage_unavailable"]}},"/speke/v1.0/heartbeat":{"x-listeners":["p\#
        ublic"],"get":{"operationId":"getHeartbeat","tags":["packagers"],"summary":"Whether SPEKE is served","securi\#
        ty":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"responses":{\#
        "200":{"description":"It is.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Con\#
        trol":{"$ref":"#/components/headers/CacheControl"}},"content":{"text/plain; charset=utf-8":{"schema":{"const\#
        ":"Latchkey serves SPEKE\n"}}}},"400":{"$ref":"#/components/responses/SPEKE400"},"401":{"$ref":"#/components\#
        /responses/SPEKE401"},"403":{"$ref":"#/components/responses/SPEKE403"},"408":{"$ref":"#/components/responses\#
        /Problem408"},"413":{"$ref":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Problem\#
        414"},"417":{"$ref":"#/components/responses/Problem417"},"422":{"$ref":"#/components/responses/SPEKE422"},"4\#
        29":{"$ref":"#/components/responses/SPEKE429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$r\#
        ef":"#/components/responses/SPEKE500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/c\#
        omponents/responses/SPEKE503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["package\#
        r_invalid","packager_forbidden","cpix_rejected","rate_limited","storage_unavailable"]},"head":{"operationId"\#
        :"headGetHeartbeat","tags":["packagers"],"summary":"The fields of the answer to GET","security":[{"packagerB\#
        asic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"responses":{"200":{"descript\#
        ion":"It is.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#\#
        /components/headers/CacheControl"}},"content":{"text/plain; charset=utf-8":{"schema":{"const":"Latchkey serv\#
        es SPEKE\n"}}}},"400":{"$ref":"#/components/responses/SPEKE400"},"401":{"$ref":"#/components/responses/SPEKE\#
        401"},"403":{"$ref":"#/components/responses/SPEKE403"},"408":{"$ref":"#/components/responses/Problem408"},"4\#
        13":{"$ref":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$r\#
        ef":"#/components/responses/Problem417"},"422":{"$ref":"#/components/responses/SPEKE422"},"429":{"$ref":"#/c\#
        omponents/responses/SPEKE429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/component\#
        s/responses/SPEKE500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/respon\#
        ses/SPEKE503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["packager_invalid","pack\#
        ager_forbidden","cpix_rejected","rate_limited","storage_unavailable"]}},"/v1/keys":{"x-listeners":["public"]\#
        ,"post":{"operationId":"orderKeys","tags":["packagers"],"summary":"Keys of a content, made or found","securi\#
        ty":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"requestBody"\#
        :{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/KeyOrder"}}}},"respo\#
        nses":{"200":{"description":"The keys, in the order of the tracks.","headers":{"X-Request-Id":{"$ref":"#/com\#
        ponents/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"applic\#
        ation/json":{"schema":{"$ref":"#/components/schemas/DeliveredKeys"}}}},"400":{"$ref":"#/components/responses\#
        /Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Probl\#
        em403"},"408":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/responses/Problem409"\#
        },"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417\#
        ":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$r\#
        ef":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#\#
        /components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/compo\#
        nents/responses/Problem505"}},"x-error-codes":["packager_invalid","packager_forbidden","key_conflict","key_l\#
        ost","rate_limited","storage_unavailable"]}},"/v1/keys/{contentId}":{"x-listeners":["public"],"parameters":[\#
        {"$ref":"#/components/parameters/PathContentId"}],"get":{"operationId":"getKeys","tags":["packagers"],"summa\#
        ry":"The keys of a content, in the form of a packager","security":[{"packagerBasic":[]},{"packagerBearer":[]\#
        },{"packagerKey":[]},{"packagerCertificate":[]}],"parameters":[{"$ref":"#/components/parameters/KeyFormat"},\#
        {"$ref":"#/components/parameters/TrackLabel"},{"$ref":"#/components/parameters/Period"},{"$ref":"#/component\#
        s/parameters/AfterKey"},{"$ref":"#/components/parameters/KeyLimit"}],"responses":{"200":{"description":"A pa\#
        ge of keys.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/\#
        components/headers/CacheControl"},"Link":{"$ref":"#/components/headers/Link"}},"content":{"application/json"\#
        :{"schema":{"anyOf":[{"$ref":"#/components/schemas/KeyPage"},{"description":"nginx-vod: an array of one obje\#
        ct.","type":"array","minItems":1},{"description":"mediaconvert and bitmovin: their own objects.","type":"obj\#
        ect","not":{"required":["contentId","keys"]}}]}},"text/plain; charset=utf-8":{"schema":{"description":"shaka\#
        , bento4, bento4-dash, bento4-hls, wowza, usp and hls.","type":"string"}},"application/yaml":{"schema":{"des\#
        cription":"shaka-streamer.","type":"string"}},"application/xml":{"schema":{"description":"gpac and cpix.","t\#
        ype":"string"}},"application/octet-stream":{"schema":{"description":"mediafilesegmenter: 16 bytes of key, 1\#
        6 of vector.","type":"string","contentMediaType":"application/octet-stream"}}}},"400":{"$ref":"#/components/\#
        responses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/respon\#
        ses/Problem403"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Pr\#
        oblem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem4\#
        14"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"\#
        431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{\#
        "$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref"\#
        :"#/components/responses/Problem505"}},"x-error-codes":["key_not_found","packager_invalid","packager_forbidd\#
        en","rate_limited","storage_unavailable","not_found"]},"head":{"operationId":"headGetKeys","tags":["packager\#
        s"],"summary":"The fields of the answer to GET","security":[{"packagerBasic":[]},{"packagerBearer":[]},{"pac\#
        kagerKey":[]},{"packagerCertificate":[]}],"parameters":[{"$ref":"#/components/parameters/KeyFormat"},{"$ref"\#
        :"#/components/parameters/TrackLabel"},{"$ref":"#/components/parameters/Period"},{"$ref":"#/components/param\#
        eters/AfterKey"},{"$ref":"#/components/parameters/KeyLimit"}],"responses":{"200":{"description":"A page of k\#
        eys.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/compone\#
        nts/headers/CacheControl"},"Link":{"$ref":"#/components/headers/Link"}},"content":{"application/json":{"sche\#
        ma":{"anyOf":[{"$ref":"#/components/schemas/KeyPage"},{"description":"nginx-vod: an array of one object.","t\#
        ype":"array","minItems":1},{"description":"mediaconvert and bitmovin: their own objects.","type":"object","n\#
        ot":{"required":["contentId","keys"]}}]}},"text/plain; charset=utf-8":{"schema":{"description":"shaka, bento\#
        4, bento4-dash, bento4-hls, wowza, usp and hls.","type":"string"}},"application/yaml":{"schema":{"descriptio\#
        n":"shaka-streamer.","type":"string"}},"application/xml":{"schema":{"description":"gpac and cpix.","type":"s\#
        tring"}},"application/octet-stream":{"schema":{"description":"mediafilesegmenter: 16 bytes of key, 16 of vec\#
        tor.","type":"string","contentMediaType":"application/octet-stream"}}}},"400":{"$ref":"#/components/response\#
        s/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Prob\#
        lem403"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408\#
        "},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"41\#
        7":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$\#
        ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"\#
        #/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/comp\#
        onents/responses/Problem505"}},"x-error-codes":["key_not_found","packager_invalid","packager_forbidden","rat\#
        e_limited","storage_unavailable","not_found"]}}},"components":{"securitySchemes":{"token":{"type":"http","sc\#
        heme":"bearer","bearerFormat":"JWT","description":"A token of a configured issuer, or the session token of t\#
        he licence before."},"nvAuthorizations":{"type":"apiKey","in":"header","name":"nv-authorizations","descripti\#
        on":"The same in NAGRA's header: up to eight tokens with commas between. Refusals are then in NAGRA's manner\#
        ."},"axinomMessage":{"type":"apiKey","in":"header","name":"X-AxDRM-Message","description":"The same in Axino\#
        m's header."},"axinomQuery":{"type":"apiKey","in":"query","name":"AxDrmMessage","description":"The same in A\#
        xinom's query."},"drmToday":{"type":"apiKey","in":"header","name":"x-dt-auth-token","description":"The sam\#
        e in castLabs' header."},"drmCloud":{"type":"apiKey","in":"header","name":"X-Drm-UserToken","description":"T\#
        he same in drm.cloud's header."},"expressPlayToken":{"type":"apiKey","in":"header","name":"ExpressPlayToken"\#
        ,"description":"The same in ExpressPlay's header."},"expressPlayQuery":{"type":"apiKey","in":"query","name":\#
        "ExpressPlayToken","description":"The same in ExpressPlay's query."},"tokenQuery":{"type":"apiKey","in":"que\#
        ry","name":"token","description":"The same in the query."},"userTokenQuery":{"type":"apiKey","in":"query","n\#
        ame":"UserToken","description":"The same in the query."},"drmTokenQuery":{"type":"apiKey","in":"query","name\#
        ":"drm_token","description":"The same in the query."},"packagerBasic":{"type":"http","scheme":"basic","descr\#
        iption":"The packager's name and secret."},"packagerBearer":{"type":"http","scheme":"bearer","description":"\#
        The packager's secret."},"packagerKey":{"type":"apiKey","in":"header","name":"x-api-key","description":"Th\#
        e packager's secret."},"packagerCertificate":{"type":"mutualTLS","description":"A client certificate that i\#
        s configured for the packager."},"customerAuthenticator":{"type":"apiKey","in":"query","name":"customerAuthe\#
        nticator","description":"The authenticator of a customer, which may be a member of the form instead."},"enti\#
        tlementServer":{"type":"http","scheme":"bearer","description":"The secret of `expressPlay.sees`."},"entitlem\#
        entServerCertificate":{"type":"mutualTLS","description":"A client certificate that `expressPlay.sees.clients\#
        ` names."},"adminToken":{"type":"http","scheme":"bearer","description":"A token of the admin listener. A loo\#
        pback listener without one answers every process of its machine, but not revocations and accounts."}},"param\#
        eters":{"Offline":{"name":"offline","in":"query","description":"Asks for a licence that the device may kee\#
        p (`1`, `true`, or nothing), or may not.","schema":{"enum":["","0","1","true","false"]},"example":"1","allow\#
        EmptyValue":true},"Renew":{"name":"renew","in":"query","description":"Says that the request renews a licence\#
        .","schema":{"enum":["","0","1","true","false"]},"example":"true","allowEmptyValue":true},"Previous":{"name"\#
        :"previous","in":"query","description":"The id of the licence that is renewed, as `X-License-Id` had it.","s\#
        chema":{"type":"string"}},"Format":{"name":"format","in":"query","description":"The shape of the answer. Wit\#
        hout it the path, `Accept` and the shape of the request decide.","schema":{"enum":["raw","base64","ckc","jso\#
        n","kaltura","nagra"]},"example":"json"},"AssetId":{"name":"assetId","in":"query","description":"Names the k\#
        ey. A hint only: the SPC decides, and a name of another key is refused.","schema":{"type":"string"}},"Conten\#
        tIdHint":{"name":"contentId","in":"query","description":"Names the key. A hint only: the SPC decides, an\#
        d a name of another key is refused.","schema":{"type":"string"}},"KIDHint":{"name":"KID","in":"query","descr\#
        iption":"Names the key. A hint only: the SPC decides, and a name of another key is refused.","schema":{"type\#
        ":"string"}},"VideoId":{"name":"videoId","in":"query","description":"Names the key. A hint only: the SPC dec\#
        ides, and a name of another key is refused.","schema":{"type":"string"}},"KIDField":{"name":"KID","in":"head\#
        er","description":"Names the key, as the parameters of the query do.","schema":{"type":"string"}},"RenewFiel\#
        d":{"name":"X-License-Renew","in":"header","description":"`1` says the same as `renew=true`.","schema":{"typ\#
        e":"string"},"example":"1"},"Credential":{"name":"credential","in":"query","description":"The credential's n\#
        ame; the first one unless given.","schema":{"type":"string"},"example":"main"},"Size":{"name":"size","in":"q\#
        uery","description":"One of the two certificates; the bundle of both unless given.","schema":{"enum":["1024"\#
        ,"2048"]},"example":"2048"},"CertificateFormat":{"name":"format","in":"query","description":"How the certifi\#
        cate is written.","schema":{"enum":["raw","base64","pem","json"]},"example":"pem"},"IfNoneMatch":{"name":"If\#
        -None-Match","in":"header","description":"The entity tags that the client has.","schema":{"type":"string"}},\#
        "PathKeyId":{"name":"kid","in":"path","required":true,"description":"Names the key: a hint, 2 to 1,024 bytes\#
        .","schema":{"type":"string","minLength":2,"maxLength":1024},"example":"movie-42"},"Prefix":{"name":"prefix"\#
        ,"in":"path","required":true,"description":"One segment or more, which say nothing.","schema":{"type":"strin\#
        g","minLength":1},"example":"tenant"},"PathContentId":{"name":"contentId","in":"path","required":true,"descr\#
        iption":"The content id, percent-encoded: 1 to 200 printable ASCII characters without space.","schema":{"typ\#
        e":"string","pattern":"^[!-~]{1,200}$"},"example":"movie-42"},"KeyFormat":{"name":"format","in":"query","des\#
        cription":"The form of a packager.","schema":{"enum":["json","shaka","shaka-streamer","bento4","bento4-dash"\#
        ,"bento4-hls","gpac","nginx-vod","wowza","usp","mediaconvert","bitmovin","mediafilesegmenter","cpix","hls"]}\#
        ,"example":"shaka"},"TrackLabel":{"name":"track","in":"query","description":"Only keys of this label.","sche\#
        ma":{"type":"string","minLength":1,"maxLength":64,"pattern":"^[!-~]*$"},"example":"HD"},"Period":{"name":"pe\#
        riod","in":"query","description":"Only keys of this period.","schema":{"type":"integer","minimum":0,"maximum\#
        ":4294967295},"example":7},"AfterKey":{"name":"after","in":"query","description":"The key id behind which th\#
        e page begins.","schema":{"type":"string","format":"uuid"}},"KeyLimit":{"name":"limit","in":"query","descrip\#
        tion":"How many keys a page has.","schema":{"type":"integer","minimum":1,"maximum":64},"example":64},"SPEKEV\#
        ersion":{"name":"X-Speke-Version","in":"header","description":"The version of SPEKE, with which path and doc\#
        ument must agree. SPEKE v1 has no such field.","schema":{"enum":["2.0","2.1"]},"example":"2.0"},"FormErrorFo\#
        rmat":{"name":"errorFormat","in":"query","description":"As the member `errorFormat` of the form.","schema":{\#
        "enum":["html","json"]}},"FormGeneralFlags":{"name":"generalFlags","in":"query","description":"As the membe\#
        r `generalFlags` of the form.","schema":{"type":"string","pattern":"^([0-9A-Fa-f]{4}|[0-9A-Fa-f]{8})$"}},"Fo\#
        rmContentKey":{"name":"contentKey","in":"query","description":"As the member `contentKey` of the form.","sch\#
        ema":{"type":"string","pattern":"^[0-9A-Fa-f]{32}$"}},"FormKek":{"name":"kek","in":"query","description":"A\#
        s the member `kek` of the form.","schema":{"type":"string","pattern":"^([0-9A-Fa-f]{32}|[0-9A-Fa-f]{48}|[0-9\#
        A-Fa-f]{64})$"}},"FormEk":{"name":"ek","in":"query","description":"As the member `ek` of the form.","schema"\#
        :{"type":"string","pattern":"^[0-9A-Fa-f]{48}$"}},"FormKid":{"name":"kid","in":"query","description":"As th\#
        e member `kid` of the form.","schema":{"type":"string","pattern":"^([0-9A-Fa-f]{32}|\\^[!-~]{1,64})$"}},"For\#
        mIv":{"name":"iv","in":"query","description":"As the member `iv` of the form.","schema":{"type":"string","pa\#
        ttern":"^[0-9A-Fa-f]{32}$"}},"FormRentalDuration":{"name":"rentalDuration","in":"query","description":"As th\#
        e member `rentalDuration` of the form.","schema":{"type":"integer","minimum":0,"maximum":4294967294}},"FormF\#
        pExtension":{"name":"fpExtension","in":"query","description":"As the member `fpExtension` of the form.","sch\#
        ema":{"type":"string"}},"FormExpirationTime":{"name":"expirationTime","in":"query","description":"RFC 3339 i\#
        n UTC, or `+` and seconds; 30 days at most.","schema":{"type":"string"}},"FormCookie":{"name":"cookie","in":\#
        "query","description":"As the member `cookie` of the form.","schema":{"type":"string","maxLength":32}},"Form\#
        Latchkeylease":{"name":"latchkey.lease","in":"query","description":"As the member `latchkey.lease` of the fo\#
        rm.","schema":{"type":"integer","minimum":1,"maximum":4294967294}},"FormLatchkeydevice":{"name":"latchkey.de\#
        vice","in":"query","description":"As the member `latchkey.device` of the form.","schema":{"type":"string"}},\#
        "FormLatchkeybind":{"name":"latchkey.bind","in":"query","description":"As the member `latchkey.bind` of th\#
        e form.","schema":{"enum":["first","none"]}},"FormLatchkeyuses":{"name":"latchkey.uses","in":"query","descri\#
        ption":"As the member `latchkey.uses` of the form.","schema":{"type":"integer","minimum":1,"maximum":4294967\#
        295}},"FormLatchkeyhdcp":{"name":"latchkey.hdcp","in":"query","description":"As the member `latchkey.hdcp` o\#
        f the form.","schema":{"enum":["none","type0","type1"]}},"FormRightsType":{"name":"rightsType","in":"query",\#
        "description":"As the member `rightsType` of the form.","schema":{"enum":["BuyToOwn","Rental"]}},"FormRental\#
        periodEndTime":{"name":"rental.periodEndTime","in":"query","description":"As the member `rental.periodEndTim\#
        e` of the form.","schema":{"type":"string"}},"FormRentalplayDuration":{"name":"rental.playDuration","in":"qu\#
        ery","description":"As the member `rental.playDuration` of the form.","schema":{"type":"integer","minimum":0\#
        }},"FormAnalogVideoOPL":{"name":"analogVideoOPL","in":"query","description":"As the member `analogVideoOPL\#
        ` of the form.","schema":{"type":"integer","minimum":0,"maximum":999}},"FormCompressedDigitalAudioOPL":{"nam\#
        e":"compressedDigitalAudioOPL","in":"query","description":"As the member `compressedDigitalAudioOPL` of th\#
        e form.","schema":{"type":"integer","minimum":0,"maximum":999}},"FormCompressedDigitalVideoOPL":{"name":"com\#
        pressedDigitalVideoOPL","in":"query","description":"As the member `compressedDigitalVideoOPL` of the form.",\#
        "schema":{"type":"integer","minimum":0,"maximum":999}},"FormUncompressedDigitalAudioOPL":{"name":"uncompress\#
        edDigitalAudioOPL","in":"query","description":"As the member `uncompressedDigitalAudioOPL` of the form.","sc\#
        hema":{"type":"integer","minimum":0,"maximum":999}},"FormUncompressedDigitalVideoOPL":{"name":"uncompressedD\#
        igitalVideoOPL","in":"query","description":"As the member `uncompressedDigitalVideoOPL` of the form.","schem\#
        a":{"type":"integer","minimum":0,"maximum":999}},"FormPrFlag":{"name":"prFlag","in":"query","description":"A\#
        s the member `prFlag` of the form.","schema":{"type":"string","pattern":"^[0-9A-Fa-f]{8}$"}},"FormUseHttps":\#
        {"name":"useHttps","in":"query","description":"As the member `useHttps` of the form.","schema":{"enum":["tru\#
        e","false","1","0"]}},"SPEKEVersion20":{"name":"X-Speke-Version","in":"header","required":true,"description"\#
        :"The version of SPEKE.","schema":{"const":"2.0"},"example":"2.0"},"SPEKEVersion21":{"name":"X-Speke-Version\#
        ","in":"header","required":true,"description":"The version of SPEKE.","schema":{"const":"2.1"},"example":"2.\#
        1"}},"requestBodies":{"LicenceRequest":{"description":"An SPC in any shape that players send. The body alon\#
        e decides what it is; of `Content-Type` only the boundary of a multipart body is read.","required":true,"con\#
        tent":{"application/octet-stream":{"schema":{"$ref":"#/components/schemas/SPC"}},"application/x-www-form-url\#
        encoded":{"schema":{"$ref":"#/components/schemas/LicenceForm"}},"multipart/form-data":{"schema":{"$ref":"#/c\#
        omponents/schemas/LicenceParts"}},"text/plain":{"schema":{"$ref":"#/components/schemas/Base64SPC"},"example"\#
        :"AAAAAQ=="},"application/json":{"schema":{"anyOf":[{"$ref":"#/components/schemas/LicenceObject"},{"$ref":"#\#
        /components/schemas/GetFairplayLicense"},{"$ref":"#/components/schemas/KeyRequestArray"},{"$ref":"#/componen\#
        ts/schemas/StreamingKeysRequest"}]}},"application/x-plist":{"schema":{"$ref":"#/components/schemas/SessionRe\#
        port"}},"text/xml":{"schema":{"$ref":"#/components/schemas/PropertyListText"}}}}},"headers":{"RequestId":{"d\#
        escription":"The id of the request, by which the log and `GET /v1/refusals/{requestId}` know it.","required"\#
        :true,"schema":{"type":"string","pattern":"^[0-9a-f]{16}$"},"example":"5f0c2b7e91d3a846"},"ErrorCode":{"desc\#
        ription":"The code of the refusal, for clients that drop bodies. At addresses of ExpressPlay's back ends i\#
        t may be ExpressPlay's number.","required":false,"schema":{"type":"string","minLength":1},"example":"token_m\#
        issing"},"Challenge":{"description":"Which credentials are accepted: `Bearer`, and for packagers `Basic`.","\#
        schema":{"type":"string"},"example":"Bearer"},"RetryAfter":{"description":"The least wait in seconds. Not ev\#
        ery refusal has one.","schema":{"type":"integer","minimum":0},"example":2},"CacheControl":{"description":"Ho\#
        w long caches may keep the answer.","schema":{"type":"string"},"example":"no-store"},"LicenseId":{"descripti\#
        on":"The id of the licence.","schema":{"type":"string"},"example":"AZq0Zk1vcPOBkXvS0hE8nQ"},"LicenseType":{"\#
        description":"The validity of the licence.","schema":{"type":"string"},"example":"lease"},"LicenseIssued":{"\#
        description":"When the licence was issued, in seconds since 1970.","schema":{"type":"integer"},"example":176\#
        9860800},"LicenseExpires":{"description":"When the licence ends, in seconds since 1970. Absent if it has n\#
        o end.","schema":{"type":"integer"},"example":1769861100},"LicenseRenewAfter":{"description":"When to ask fo\#
        r a renewal, in seconds since 1970. Absent if there is nothing to renew.","schema":{"type":"integer"},"examp\#
        le":1769861000},"SessionToken":{"description":"The token to present for the next renewal. Absent if there i\#
        s nothing to renew.","schema":{"type":"string"}},"ETag":{"description":"A strong entity tag, which differs f\#
        rom format to format.","schema":{"type":"string"},"example":"\"0f3a\""},"Link":{"description":"The address o\#
        f the next page with `rel=\"next\"`. Absent on the last page.","schema":{"type":"string"}},"Allow":{"descrip\#
        tion":"The methods of the address.","schema":{"type":"string"},"example":"GET, HEAD, OPTIONS"},"AllowOrigin"\#
        :{"description":"The origins whose pages may read the answer. Absent for other origins.","schema":{"type":"s\#
        tring"}},"SPEKEVersion":{"description":"The version of SPEKE. Absent for SPEKE v1.","schema":{"enum":["2.0",\#
        "2.1"]},"example":"2.0"},"SPEKEUserAgent":{"description":"The name of this server. SPEKE v1 calls the fiel\#
        d `Speke-User-Agent`.","schema":{"type":"string"}}},"responses":{"Certificate":{"description":"The certifica\#
        tes, in the form that the query or the path names.","headers":{"X-Request-Id":{"$ref":"#/components/headers/\#
        RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"},"ETag":{"$ref":"#/components/header\#
        s/ETag"}},"content":{"application/octet-stream":{"schema":{"description":"DER; of a bundle one behind the ot\#
        her.","type":"string","contentMediaType":"application/octet-stream"}},"text/plain; charset=utf-8":{"schema":\#
        {"$ref":"#/components/schemas/CertificateBase64"}},"application/x-pem-file":{"schema":{"type":"string","patt\#
        ern":"^-----BEGIN CERTIFICATE-----"}},"application/json":{"schema":{"type":"object","required":["certificate\#
        "],"properties":{"certificate":{"type":"string","contentEncoding":"base64","minLength":1}},"additionalProper\#
        ties":false}}}},"CertificateNotModified":{"description":"The client has this certificate.","headers":{"X-Req\#
        uest-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheContro\#
        l"},"ETag":{"$ref":"#/components/headers/ETag"}}},"ExpressPlay400":{"description":"The request is not one th\#
        at is read here.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref"\#
        :"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/sc\#
        hemas/Problem400"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"a\#
        pplication/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},"ExpressPlay401":{"descriptio\#
        n":"The credential is missing, or proves too little.","headers":{"X-Request-Id":{"$ref":"#/components/header\#
        s/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"WWW-Authenticate":{"$ref":"#/compone\#
        nts/headers/Challenge"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Probl\#
        em401"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"application/\#
        json":{"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},"ExpressPlay403":{"description":"The cre\#
        dential is good, and does not allow this.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId\#
        "},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/Retr\#
        yAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem403"}},"text/\#
        html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"application/json":{"schema"\#
        :{"$ref":"#/components/schemas/ExpressPlayError"}}}},"ExpressPlay404":{"description":"There is nothing at th\#
        is address, or no key.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{\#
        "$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/compone\#
        nts/schemas/Problem404"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/ExpressPlayPage\#
        "}},"application/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},"ExpressPlay409":{"desc\#
        ription":"The request contradicts what is stored.","headers":{"X-Request-Id":{"$ref":"#/components/headers/R\#
        equestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{\#
        "schema":{"$ref":"#/components/schemas/Problem409"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/compone\#
        nts/schemas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayError"}\#
        }}},"ExpressPlay413":{"description":"The body is too large.","headers":{"X-Request-Id":{"$ref":"#/components\#
        /headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/probl\#
        em+json":{"schema":{"$ref":"#/components/schemas/Problem413"}},"text/html; charset=utf-8":{"schema":{"$ref":\#
        "#/components/schemas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/schemas/ExpressP\#
        layError"}}}},"ExpressPlay422":{"description":"The body was read, and is not one that is answered.","headers\#
        ":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/Err\#
        orCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem422"}},"text/\#
        html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"application/json":{"schema"\#
        :{"$ref":"#/components/schemas/ExpressPlayError"}}}},"ExpressPlay429":{"description":"Too many requests, o\#
        r the server has more to do than it can.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"\#
        },"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/Retry\#
        After"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem429"}},"text/h\#
        tml; charset=utf-8":{"schema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"application/json":{"schema":\#
        {"$ref":"#/components/schemas/ExpressPlayError"}}}},"ExpressPlay500":{"description":"A fault of the server."\#
        ,"headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/he\#
        aders/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem500"\#
        }},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"application/json":\#
        {"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},"ExpressPlay503":{"description":"Something tha\#
        t the server depends on does not answer. Try again later.","headers":{"X-Request-Id":{"$ref":"#/components/h\#
        eaders/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{"$ref":"#/compone\#
        nts/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Prob\#
        lem503"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"application\#
        /json":{"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},"FilledCPIX":{"description":"The same d\#
        ocument with keys.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$r\#
        ef":"#/components/headers/CacheControl"},"X-Speke-Version":{"$ref":"#/components/headers/SPEKEVersion"},"X-S\#
        peke-User-Agent":{"$ref":"#/components/headers/SPEKEUserAgent"}},"content":{"application/xml":{"schema":{"$r\#
        ef":"#/components/schemas/CPIXDocument"}}}},"Licence":{"description":"The licence, in the shape that the pla\#
        yer reads; or, in shapes with a result for each key, each key's result. A report of ended sessions is answer\#
        ed with the word `acknowledged`.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache\#
        -Control":{"$ref":"#/components/headers/CacheControl"},"X-License-Id":{"$ref":"#/components/headers/LicenseI\#
        d"},"X-License-Type":{"$ref":"#/components/headers/LicenseType"},"X-License-Issued":{"$ref":"#/components/he\#
        aders/LicenseIssued"},"X-License-Expires":{"$ref":"#/components/headers/LicenseExpires"},"X-License-Renew-Af\#
        ter":{"$ref":"#/components/headers/LicenseRenewAfter"},"X-Session-Token":{"$ref":"#/components/headers/Sessi\#
        onToken"}},"content":{"application/octet-stream":{"schema":{"description":"The bytes of the CKC.","type":"st\#
        ring","contentMediaType":"application/octet-stream"}},"text/plain; charset=utf-8":{"schema":{"description":"\#
        The Base64 of the CKC, `<ckc>` and `</ckc>` around it, or `acknowledged`.","type":"string","minLength":1}},"\#
        application/json":{"schema":{"$ref":"#/components/schemas/LicenceJSON"}}}},"Player400":{"description":"The r\#
        equest is not one that is read here.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X\#
        -Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$r\#
        ef":"#/components/schemas/Problem400"}},"application/json":{"schema":{"$ref":"#/components/schemas/NAGRAProb\#
        lem400"}}}},"Player401":{"description":"The credential is missing, or proves too little.","headers":{"X-Requ\#
        est-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"\#
        WWW-Authenticate":{"$ref":"#/components/headers/Challenge"}},"content":{"application/problem+json":{"schema"\#
        :{"$ref":"#/components/schemas/Problem401"}},"application/json":{"schema":{"$ref":"#/components/schemas/NAGR\#
        AProblem401"}}}},"Player403":{"description":"The credential is good, and does not allow this.","headers":{"X\#
        -Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCod\#
        e"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema\#
        ":{"$ref":"#/components/schemas/Problem403"}},"application/json":{"schema":{"$ref":"#/components/schemas/NAG\#
        RAProblem403"}}}},"Player404":{"description":"There is nothing at this address, or no key.","headers":{"X-Re\#
        quest-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}\#
        },"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem404"}},"application/j\#
        son":{"schema":{"$ref":"#/components/schemas/NAGRAProblem404"}}}},"Player409":{"description":"The request co\#
        ntradicts what is stored.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code\#
        ":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/comp\#
        onents/schemas/Problem409"}},"application/json":{"schema":{"$ref":"#/components/schemas/NAGRAProblem409"}}}}\#
        ,"Player422":{"description":"The body was read, and is not one that is answered.","headers":{"X-Request-Id":\#
        {"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content\#
        ":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem422"}},"application/json":{"sch\#
        ema":{"$ref":"#/components/schemas/NAGRAProblem422"}}}},"Player429":{"description":"Too many requests, or th\#
        e server has more to do than it can.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X\#
        -Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfte\#
        r"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem429"}},"applicatio\#
        n/json":{"schema":{"$ref":"#/components/schemas/NAGRAProblem429"}}}},"Player500":{"description":"A fault o\#
        f the server.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#\#
        /components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schem\#
        as/Problem500"}},"application/json":{"schema":{"$ref":"#/components/schemas/NAGRAProblem500"}}}},"Player503"\#
        :{"description":"Something that the server depends on does not answer. Try again later.","headers":{"X-Reque\#
        st-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"R\#
        etry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$r\#
        ef":"#/components/schemas/Problem503"}},"application/json":{"schema":{"$ref":"#/components/schemas/NAGRAProb\#
        lem503"}}}},"Preflight":{"description":"The methods of the address. The `Access-Control` fields are there fo\#
        r pages that may read answers.","headers":{"Allow":{"$ref":"#/components/headers/Allow"},"Access-Control-All\#
        ow-Origin":{"$ref":"#/components/headers/AllowOrigin"}}},"Problem400":{"description":"The request is not on\#
        e that is read here.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$\#
        ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/component\#
        s/schemas/Problem400"}}}},"Problem401":{"description":"The credential is missing, or proves too little.","he\#
        aders":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/header\#
        s/ErrorCode"},"WWW-Authenticate":{"$ref":"#/components/headers/Challenge"}},"content":{"application/problem+\#
        json":{"schema":{"$ref":"#/components/schemas/Problem401"}}}},"Problem403":{"description":"The credential i\#
        s good, and does not allow this.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Err\#
        or-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}}\#
        ,"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem403"}}}},"Problem404":\#
        {"description":"There is nothing at this address, or no key.","headers":{"X-Request-Id":{"$ref":"#/component\#
        s/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/prob\#
        lem+json":{"schema":{"$ref":"#/components/schemas/Problem404"}}}},"Problem408":{"description":"The request d\#
        id not arrive in time. The connection closes.","headers":{"X-Request-Id":{"$ref":"#/components/headers/Reque\#
        stId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"sch\#
        ema":{"$ref":"#/components/schemas/Problem408"}}}},"Problem409":{"description":"The request contradicts wha\#
        t is stored.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/\#
        components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schema\#
        s/Problem409"}}}},"Problem413":{"description":"The body is too large.","headers":{"X-Request-Id":{"$ref":"#/\#
        components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applica\#
        tion/problem+json":{"schema":{"$ref":"#/components/schemas/Problem413"}}}},"Problem414":{"description":"Th\#
        e request target is too long.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-\#
        Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/\#
        components/schemas/Problem414"}}}},"Problem417":{"description":"No expectation but 100-continue is served.",\#
        "headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/hea\#
        ders/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem417"}\#
        }}},"Problem429":{"description":"Too many requests, or the server has more to do than it can.","headers":{"X\#
        -Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCod\#
        e"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema\#
        ":{"$ref":"#/components/schemas/Problem429"}}}},"Problem431":{"description":"The request head is too large."\#
        ,"headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/he\#
        aders/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem431"\#
        }}}},"Problem500":{"description":"A fault of the server.","headers":{"X-Request-Id":{"$ref":"#/components/he\#
        aders/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+\#
        json":{"schema":{"$ref":"#/components/schemas/Problem500"}}}},"Problem501":{"description":"The method or th\#
        e transfer coding is not served.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Err\#
        or-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":\#
        "#/components/schemas/Problem501"}}}},"Problem503":{"description":"Something that the server depends on doe\#
        s not answer. Try again later.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error\#
        -Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"\#
        content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem503"}}}},"Problem505":{"\#
        description":"This HTTP version is not served.","headers":{"X-Request-Id":{"$ref":"#/components/headers/Requ\#
        estId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"sc\#
        hema":{"$ref":"#/components/schemas/Problem505"}}}},"SEES400":{"description":"The request is not one that i\#
        s read here.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/\#
        components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schema\#
        s/Problem400"}},"application/json":{"schema":{"$ref":"#/components/schemas/SEESAnswer"}}}},"SEES401":{"descr\#
        iption":"The credential is missing, or proves too little.","headers":{"X-Request-Id":{"$ref":"#/components/h\#
        eaders/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"WWW-Authenticate":{"$ref":"#/co\#
        mponents/headers/Challenge"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/\#
        Problem401"}},"application/json":{"schema":{"$ref":"#/components/schemas/SEESAnswer"}}}},"SEES403":{"descrip\#
        tion":"The credential is good, and does not allow this.","headers":{"X-Request-Id":{"$ref":"#/components/hea\#
        ders/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{"$ref":"#/component\#
        s/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Proble\#
        m403"}},"application/json":{"schema":{"$ref":"#/components/schemas/SEESAnswer"}}}},"SEES404":{"description":\#
        "There is nothing at this address, or no key.","headers":{"X-Request-Id":{"$ref":"#/components/headers/Reque\#
        stId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"sch\#
        ema":{"$ref":"#/components/schemas/Problem404"}},"application/json":{"schema":{"$ref":"#/components/schemas/\#
        SEESAnswer"}}}},"SEES429":{"description":"Too many requests, or the server has more to do than it can.","hea\#
        ders":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers\#
        /ErrorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json"\#
        :{"schema":{"$ref":"#/components/schemas/Problem429"}},"application/json":{"schema":{"$ref":"#/components/sc\#
        hemas/SEESAnswer"}}}},"SEES500":{"description":"A fault of the server.","headers":{"X-Request-Id":{"$ref":"#\#
        /components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applic\#
        ation/problem+json":{"schema":{"$ref":"#/components/schemas/Problem500"}},"application/json":{"schema":{"$re\#
        f":"#/components/schemas/SEESAnswer"}}}},"SEES503":{"description":"Something that the server depends on doe\#
        s not answer. Try again later.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error\#
        -Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"\#
        content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem503"}},"application/json\#
        ":{"schema":{"$ref":"#/components/schemas/SEESAnswer"}}}},"SPEKE400":{"description":"The request is not on\#
        e that is read here.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$\#
        ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/component\#
        s/schemas/Problem400"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}}}},"SPEKE401":{"description"\#
        :"The credential is missing, or proves too little.","headers":{"X-Request-Id":{"$ref":"#/components/headers/\#
        RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"WWW-Authenticate":{"$ref":"#/component\#
        s/headers/Challenge"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem\#
        401"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}}}},"SPEKE403":{"description":"The credentia\#
        l is good, and does not allow this.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-\#
        Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter\#
        "}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem403"}},"text/plain\#
        ; charset=utf-8":{"schema":{"type":"string"}}}},"SPEKE409":{"description":"The request contradicts what is s\#
        tored.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/compon\#
        ents/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Prob\#
        lem409"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}}}},"SPEKE413":{"description":"The body i\#
        s too large.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/\#
        components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schema\#
        s/Problem413"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}}}},"SPEKE415":{"description":"The bo\#
        dy has a media type that is not read.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"\#
        X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"schema":{"$\#
        ref":"#/components/schemas/Problem415"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}}}},"SPEKE42\#
        2":{"description":"The body was read, and is not one that is answered.","headers":{"X-Request-Id":{"$ref":"#\#
        /components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applic\#
        ation/problem+json":{"schema":{"$ref":"#/components/schemas/Problem422"}},"text/plain; charset=utf-8":{"sche\#
        ma":{"type":"string"}}}},"SPEKE429":{"description":"Too many requests, or the server has more to do than i\#
        t can.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/compon\#
        ents/headers/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/p\#
        roblem+json":{"schema":{"$ref":"#/components/schemas/Problem429"}},"text/plain; charset=utf-8":{"schema":{"t\#
        ype":"string"}}}},"SPEKE500":{"description":"A fault of the server.","headers":{"X-Request-Id":{"$ref":"#/co\#
        mponents/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applicati\#
        on/problem+json":{"schema":{"$ref":"#/components/schemas/Problem500"}},"text/plain; charset=utf-8":{"schema"\#
        :{"type":"string"}}}},"SPEKE503":{"description":"Something that the server depends on does not answer. Try a\#
        gain later.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/c\#
        omponents/headers/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"applicat\#
        ion/problem+json":{"schema":{"$ref":"#/components/schemas/Problem503"}},"text/plain; charset=utf-8":{"schema\#
        ":{"type":"string"}}}}},"schemas":{"ErrorCode":{"description":"The codes of refusals. They do not change bet\#
        ween versions. Their statuses are in the schemas `Problem400` and so on.","type":"string","enum":["body_empt\#
        y","body_unrecognised","spc_is_certificate","spc_double_base64","spc_version_unsupported","spc_malformed","s\#
        pc_certificate_unknown","spc_rejected","spc_replayed","token_missing","token_ambiguous","token_malformed","t\#
        oken_alg","kid_unknown","kid_revoked","token_signature","token_expired","token_not_yet","token_life","token_\#
        audience","token_issuer","token_schema","token_used","token_revoked","subject_disabled","device_revoked","ip\#
        _denied","geo_denied","content_mismatch","offline_not_allowed","right_not_started","right_ended","device_mis\#
        match","device_limit","concurrency_limit","session_expired","session_killed","key_not_found","key_store_time\#
        out","admin_token_invalid","packager_invalid","packager_forbidden","cpix_rejected","media_type_unsupported",\#
        "key_conflict","key_lost","rate_limited","overloaded","entitlement_denied","entitlement_unavailable","terms_\#
        not_expressible","security_level","storage_unavailable","clock_untrusted","module_unavailable","not_found","\#
        method_not_allowed","bad_request","request_timeout","body_too_large","uri_too_long","head_too_large","expect\#
        ation_failed","not_implemented","version_not_supported","internal"]},"Problem":{"type":"object","required":[\#
        "type","title","status","detail","code","request_id","server_time","hint"],"properties":{"type":{"type":"str\#
        ing","format":"uri","description":"`urn:latchkey:error:` and the code, or a type of DASH-IF."},"title":{"typ\#
        e":"string"},"status":{"type":"integer"},"detail":{"type":"string"},"code":{"$ref":"#/components/schemas/Err\#
        orCode"},"request_id":{"type":"string","pattern":"^[0-9a-f]{16}$"},"server_time":{"type":"string","format":"\#
        date-time"},"hint":{"type":"string","description":"What to do about it."},"retry_after":{"type":"integer","m\#
        inimum":0,"description":"The least wait in seconds."},"expired_ago":{"type":"integer","description":"Of `tok\#
        en_expired`, in seconds."},"valid_in":{"type":"integer","description":"Of `token_not_yet`, in seconds."},"cl\#
        aim":{"type":"string","description":"Of `token_schema`."},"current":{"type":"integer","description":"Of `con\#
        currency_limit`: playbacks that run."},"max":{"type":"integer","description":"Of `concurrency_limit`: playba\#
        cks that may run."},"term":{"type":"string","description":"Of `terms_not_expressible`: what the device canno\#
        t be told."},"parameter":{"type":"string","description":"Of `bad_request`: the part of the query that is no\#
        t readable."},"member":{"type":"string","description":"Of `bad_request` at `/v1/keys`: the part of the bod\#
        y or of the query that is wrong."},"header":{"type":"string","description":"Of `token_missing`: a header tha\#
        t is not read and looks as if it had a token."},"certificate_hash":{"type":"string","description":"Of `spc_c\#
        ertificate_unknown`."},"held_hashes":{"type":"string","description":"Of `spc_certificate_unknown`."}},"descr\#
        iption":"A refusal (RFC 9457).","example":{"type":"urn:latchkey:error:right_ended","title":"The right has en\#
        ded","status":403,"detail":"The right has ended.","code":"right_ended","request_id":"5f0c2b7e91d3a846","serv\#
        er_time":"2026-01-31T12:00:00.000Z","hint":"Fetch a token with a right that has not ended."}},"NAGRAProblem"\#
        :{"description":"A refusal for clients of NAGRA's dialect: the members of `Problem` after a number.","allOf"\#
        :[{"$ref":"#/components/schemas/Problem"}],"required":["errorCode"],"properties":{"errorCode":{"type":"integ\#
        er"}},"example":{"errorCode":4000,"type":"urn:latchkey:error:right_ended","title":"The right has ended","sta\#
        tus":403,"detail":"The right has ended.","code":"right_ended","request_id":"5f0c2b7e91d3a846","server_time":\#
        "2026-01-31T12:00:00.000Z","hint":"Fetch a token with a right that has not ended."}},"ExpressPlayCode":{"des\#
        cription":"ExpressPlay's numbers.","type":"integer","enum":[-2002,-2003,-2005,-2008,-2017,-2018,-2019,-2020,\#
        -2021,-2022,-2023,-2025,-2027,-2030,-2031,-2033,-2034,-2035,-2036,-2037,-2040,-3004,-4001,-4010,-4018,-4019,\#
        -4020,-4021,-4022,-4024,-5003,-6001,-6003,-6004,-6005,-6007,-6008]},"ExpressPlayError":{"type":"object","req\#
        uired":["errorMessage","eventId"],"properties":{"errorCode":{"$ref":"#/components/schemas/ExpressPlayCode"},\#
        "errorMessage":{"type":"string"},"eventId":{"type":"string","pattern":"^[0-9a-f]{16}$"}},"additionalProperti\#
        es":false,"description":"A refusal in ExpressPlay's manner. It has no number for what only HTTP knows.","exa\#
        mple":{"errorCode":-2018,"errorMessage":"customerAuthenticator is not known in this environment.","eventId":\#
        "5f0c2b7e91d3a846"}},"ExpressPlayPage":{"description":"The same as a page.","type":"string","pattern":"^<!DO\#
        CTYPE html>"},"SPC":{"description":"The bytes of an SPC, as the player made them.","type":"string","contentM\#
        ediaType":"application/octet-stream"},"Base64SPC":{"type":"string","contentEncoding":"base64","minLength":1,\#
        "description":"The Base64 of an SPC, in either alphabet, with padding or without."},"LicenceForm":{"type":"o\#
        bject","required":["spc"],"properties":{"spc":{"$ref":"#/components/schemas/Base64SPC"},"assetId":{"type":"s\#
        tring"},"token":{"type":"string","description":"Counts if `entitlement.tokenInBody` is set."}},"example":{"s\#
        pc":"AAAAAQ==","assetId":"movie-42"}},"LicenceParts":{"type":"object","required":["spc"],"properties":{"spc"\#
        :{"type":"string","contentMediaType":"application/octet-stream","description":"The SPC, as bytes or in Base6\#
        4."},"assetId":{"type":"string"},"token":{"type":"string"}}},"LicenceObject":{"description":"An object wit\#
        h the SPC under one of the names that players use.","type":"object","oneOf":[{"required":["spc"]},{"required\#
        ":["spcMessage"]},{"required":["SpcMessage"]},{"required":["spcData"]},{"required":["payload"]},{"required":\#
        ["licenseChallenge"]},{"required":["server_playback_context"]}],"properties":{"spc":{"$ref":"#/components/sc\#
        hemas/Base64SPC"},"spcMessage":{"$ref":"#/components/schemas/Base64SPC"},"SpcMessage":{"$ref":"#/components/\#
        schemas/Base64SPC"},"spcData":{"$ref":"#/components/schemas/Base64SPC"},"payload":{"$ref":"#/components/sche\#
        mas/Base64SPC"},"licenseChallenge":{"$ref":"#/components/schemas/Base64SPC"},"server_playback_context":{"$re\#
        f":"#/components/schemas/Base64SPC"},"assetId":{"type":"string"},"contentId":{"type":"string"},"uri":{"type"\#
        :"string"},"token":{"type":"string"}},"example":{"spc":"AAAAAQ==","assetId":"movie-42"}},"GetFairplayLicense\#
        ":{"type":"object","required":["getFairplayLicense"],"properties":{"getFairplayLicense":{"type":"object","re\#
        quired":["spcMessage"],"properties":{"spcMessage":{"$ref":"#/components/schemas/Base64SPC"},"assetId":{"type\#
        ":"string"},"contentId":{"type":"string"},"uri":{"type":"string"}}},"token":{"type":"string"}},"example":{"g\#
        etFairplayLicense":{"spcMessage":"AAAAAQ=="}}},"KeyRequestArray":{"description":"What a browser sends for se\#
        veral keys (EME).","type":"array","minItems":1,"maxItems":16,"items":{"type":"object","required":["keyID","p\#
        ayload"],"properties":{"keyID":{"type":"string","maxLength":1024},"payload":{"$ref":"#/components/schemas/Ba\#
        se64SPC"}}},"example":[{"keyID":"movie-42","payload":"AAAAAQ=="}]},"StreamingKeysRequest":{"type":"object","\#
        required":["fairplay-streaming-request"],"properties":{"fairplay-streaming-request":{"type":"object","requir\#
        ed":["streaming-keys"],"properties":{"version":{"type":"integer"},"create":{"type":["string","number"]},"str\#
        eaming-keys":{"type":"array","minItems":1,"maxItems":16,"items":{"type":"object","required":["spc"],"propert\#
        ies":{"id":{"type":["string","number"],"description":"Repeated in the answer. A text has at most 1,024 bytes\#
        ."},"uri":{"type":"string"},"spc":{"$ref":"#/components/schemas/Base64SPC"},"offline":{"type":"boolean"}}}}}\#
        },"token":{"type":"string"}},"example":{"fairplay-streaming-request":{"version":1,"streaming-keys":[{"id":1,\#
        "uri":"skd://movie-42","spc":"AAAAAQ=="}]}}},"SessionReport":{"description":"A property list, binary or XML\#
        , with a `PlaybackSessionID` for each playback that has ended.","type":"string","contentMediaType":"applicat\#
        ion/x-plist"},"PropertyListText":{"description":"The same as XML.","type":"string"},"LicenceFacts":{"type":"\#
        object","required":["id","type","issued_at","expires_at","renew_after","lease","rental","storage_expires_at"\#
        ,"playback","persistent"],"properties":{"id":{"type":"string"},"type":{"type":"string","description":"The va\#
        lidity: for example `unlimited`, `lease`, `rental`."},"issued_at":{"type":"integer"},"expires_at":{"type":["\#
        integer","null"]},"renew_after":{"type":["integer","null"]},"lease":{"type":["integer","null"]},"rental":{"t\#
        ype":["integer","null"]},"storage_expires_at":{"type":["integer","null"]},"playback":{"type":["integer","nul\#
        l"]},"persistent":{"type":"boolean","description":"Whether the device keeps the key."}},"description":"Wha\#
        t is known of a licence. Times are in seconds since 1970, lengths in seconds; null if there is no such limit\#
        .","example":{"id":"AZq0Zk1vcPOBkXvS0hE8nQ","type":"lease","issued_at":1769860800,"expires_at":1769861100,"r\#
        enew_after":1769861000,"lease":300,"rental":null,"storage_expires_at":null,"playback":null,"persistent":fals\#
        e}},"LicenceAnswer":{"type":"object","required":["ckc","license","server_time"],"properties":{"ckc":{"type":\#
        "string","contentEncoding":"base64","minLength":1},"session_token":{"type":"string"},"license":{"$ref":"#/co\#
        mponents/schemas/LicenceFacts"},"server_time":{"type":"string","format":"date-time"}},"additionalProperties"\#
        :false,"description":"`format=json`."},"NAGRALicenceAnswer":{"type":"object","required":["CkcMessage","licen\#
        se","server_time"],"properties":{"CkcMessage":{"type":"string","contentEncoding":"base64","minLength":1},"se\#
        ssionToken":{"type":"string"},"license":{"$ref":"#/components/schemas/LicenceFacts"},"server_time":{"type":"\#
        string","format":"date-time"}},"additionalProperties":false,"description":"`format=nagra`."},"KalturaAnswer"\#
        :{"type":"object","required":["ckc","persistence_duration"],"properties":{"ckc":{"type":"string","contentEnc\#
        oding":"base64","minLength":1},"persistence_duration":{"type":"integer","minimum":0}},"additionalProperties"\#
        :false,"description":"`format=kaltura`, and the answer to plain Base64. For how many seconds from now on a k\#
        ept key may begin to play."},"MemberAnswer":{"description":"The CKC under the name that belongs to that of t\#
        he request.","type":"object","minProperties":1,"maxProperties":1,"additionalProperties":false,"properties":{\#
        "ckc":{"type":"string","contentEncoding":"base64","minLength":1},"ckcMessage":{"type":"string","contentEncod\#
        ing":"base64","minLength":1},"CkcMessage":{"type":"string","contentEncoding":"base64","minLength":1},"ckcDat\#
        a":{"type":"string","contentEncoding":"base64","minLength":1},"payload":{"type":"string","contentEncoding":"\#
        base64","minLength":1}},"example":{"ckc":"AAAAAQ=="}},"GetFairplayLicenseAnswer":{"type":"object","required"\#
        :["getFairplayLicenseResponse"],"properties":{"getFairplayLicenseResponse":{"type":"object","required":["ckc\#
        Response"],"properties":{"ckcResponse":{"type":"string","contentEncoding":"base64","minLength":1}},"addition\#
        alProperties":false}},"additionalProperties":false},"AppleStatus":{"description":"The status of a key that i\#
        s refused, as Apple numbers it.","type":"integer","enum":[-42580,-42581,-42584,-42585,-42601,-42604,-42605]}\#
        ,"KeyAnswerArray":{"description":"A licence or a number for each key, in the order of the request.","type":"\#
        array","minItems":1,"maxItems":16,"items":{"type":"object","oneOf":[{"required":["payload"]},{"required":["e\#
        rror"]}],"properties":{"keyID":{"type":"string"},"payload":{"type":"string","contentEncoding":"base64","minL\#
        ength":1},"error":{"$ref":"#/components/schemas/AppleStatus"}},"additionalProperties":false}},"StreamingKeys\#
        Answer":{"type":"object","required":["fairplay-streaming-response"],"properties":{"fairplay-streaming-respon\#
        se":{"type":"object","required":["streaming-keys"],"properties":{"streaming-keys":{"type":"array","minItems"\#
        :1,"maxItems":16,"items":{"type":"object","required":["status"],"additionalProperties":false,"properties":{"\#
        id":{"type":["string","number"]},"status":{"description":"0 for success, or one of the numbers of `AppleStat\#
        us`.","enum":[0,-42580,-42581,-42584,-42585,-42601,-42604,-42605]},"ckc":{"type":"string","contentEncoding":\#
        "base64","minLength":1},"renew-after":{"type":"integer","minimum":0},"lease-expiry-time":{"type":"integer","\#
        minimum":0},"session-token":{"type":"string"},"playback":{"const":"ended"},"offline-sync":{"type":"object","\#
        required":["version","duration-to-expiry"],"properties":{"version":{"enum":[1,2]},"duration-to-expiry":{"typ\#
        e":"integer"},"content-id":{"type":"string"},"server-challenge":{"type":"string","pattern":"^[0-9a-f]{16}$"}\#
        ,"flags":{"type":"object","additionalProperties":{"type":"boolean"}},"title-id":{"type":"string"},"records-i\#
        nvalidated":{"type":"integer"},"invalidated-stream-ids":{"type":"array","items":{"type":"string"}}}},"expire\#
        sInSeconds":{"type":["integer","null"]},"expirationDate":{"type":["string","null"],"format":"date-time"},"ch\#
        allengeAccepted":{"type":"boolean"}}}}},"additionalProperties":false}},"additionalProperties":false},"SyncRe\#
        port":{"type":"object","required":["offline-sync","expiresInSeconds","expirationDate","challengeAccepted"],"\#
        properties":{"offline-sync":{"type":"object","required":["version","duration-to-expiry"],"properties":{"vers\#
        ion":{"enum":[1,2]},"duration-to-expiry":{"type":"integer"},"content-id":{"type":"string"},"server-challenge\#
        ":{"type":"string","pattern":"^[0-9a-f]{16}$"},"flags":{"type":"object","additionalProperties":{"type":"bool\#
        ean"}},"title-id":{"type":"string"},"records-invalidated":{"type":"integer"},"invalidated-stream-ids":{"type\#
        ":"array","items":{"type":"string"}}}},"expiresInSeconds":{"type":["integer","null"]},"expirationDate":{"typ\#
        e":["string","null"],"format":"date-time"},"challengeAccepted":{"type":"boolean"}},"additionalProperties":fa\#
        lse,"description":"The answer to a sync SPC: what the device reports."},"PlaybackEnd":{"type":"object","requ\#
        ired":["playback","server_time"],"properties":{"playback":{"const":"ended"},"server_time":{"type":"string","\#
        format":"date-time"}},"additionalProperties":false,"description":"The answer to an SPC whose device says tha\#
        t playback has stopped."},"LicenceJSON":{"anyOf":[{"$ref":"#/components/schemas/LicenceAnswer"},{"$ref":"#/c\#
        omponents/schemas/NAGRALicenceAnswer"},{"$ref":"#/components/schemas/KalturaAnswer"},{"$ref":"#/components/s\#
        chemas/MemberAnswer"},{"$ref":"#/components/schemas/GetFairplayLicenseAnswer"},{"$ref":"#/components/schemas\#
        /KeyAnswerArray"},{"$ref":"#/components/schemas/StreamingKeysAnswer"},{"$ref":"#/components/schemas/SyncRepo\#
        rt"},{"$ref":"#/components/schemas/PlaybackEnd"}]},"Problem400":{"allOf":[{"$ref":"#/components/schemas/Prob\#
        lem"}],"properties":{"status":{"const":400},"code":{"enum":["body_empty","body_unrecognised","spc_is_certifi\#
        cate","spc_double_base64","spc_version_unsupported","spc_malformed","token_ambiguous","token_schema","bad_re\#
        quest"]}},"unevaluatedProperties":false},"NAGRAProblem400":{"allOf":[{"$ref":"#/components/schemas/NAGRAProb\#
        lem"}],"properties":{"status":{"const":400},"code":{"enum":["body_empty","body_unrecognised","spc_is_certifi\#
        cate","spc_double_base64","spc_version_unsupported","spc_malformed","token_ambiguous","token_schema","bad_re\#
        quest"]}},"unevaluatedProperties":false},"Problem401":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"pr\#
        operties":{"status":{"const":401},"code":{"enum":["token_missing","token_malformed","token_alg","kid_unknown\#
        ","kid_revoked","token_signature","token_expired","token_not_yet","token_life","token_audience","token_issue\#
        r","admin_token_invalid","packager_invalid"]}},"unevaluatedProperties":false},"NAGRAProblem401":{"allOf":[{"\#
        $ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":401},"code":{"enum":["token_miss\#
        ing","token_malformed","token_alg","kid_unknown","kid_revoked","token_signature","token_expired","token_not_\#
        yet","token_life","token_audience","token_issuer","admin_token_invalid","packager_invalid"]}},"unevaluatedPr\#
        operties":false},"Problem403":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"co\#
        nst":403},"code":{"enum":["token_missing","token_malformed","token_alg","kid_unknown","kid_revoked","token_s\#
        ignature","token_expired","token_not_yet","token_life","token_audience","token_issuer","token_used","token_r\#
        evoked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch","offline_not_allowed\#
        ","right_not_started","right_ended","device_mismatch","device_limit","concurrency_limit","session_expired","\#
        session_killed","packager_forbidden","entitlement_denied","terms_not_expressible","security_level"]}},"uneva\#
        luatedProperties":false},"NAGRAProblem403":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properti\#
        es":{"status":{"const":403},"code":{"enum":["token_missing","token_malformed","token_alg","kid_unknown","kid\#
        _revoked","token_signature","token_expired","token_not_yet","token_life","token_audience","token_issuer","to\#
        ken_used","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch","o\#
        ffline_not_allowed","right_not_started","right_ended","device_mismatch","device_limit","concurrency_limit","\#
        session_expired","session_killed","packager_forbidden","entitlement_denied","terms_not_expressible","securit\#
        y_level"]}},"unevaluatedProperties":false},"Problem404":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"\#
        properties":{"status":{"const":404},"code":{"enum":["key_not_found","not_found"]}},"unevaluatedProperties":f\#
        alse},"NAGRAProblem404":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"con\#
        st":404},"code":{"enum":["key_not_found","not_found"]}},"unevaluatedProperties":false},"Problem408":{"allOf"\#
        :[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":408},"code":{"enum":["request_tim\#
        eout"]}},"unevaluatedProperties":false},"Problem409":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"pro\#
        perties":{"status":{"const":409},"code":{"enum":["spc_replayed","key_conflict","key_lost"]}},"unevaluatedPro\#
        perties":false},"NAGRAProblem409":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"sta\#
        tus":{"const":409},"code":{"enum":["spc_replayed","key_conflict","key_lost"]}},"unevaluatedProperties":false\#
        },"Problem413":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":413},"code\#
        ":{"enum":["body_too_large"]}},"unevaluatedProperties":false},"Problem414":{"allOf":[{"$ref":"#/components/s\#
        chemas/Problem"}],"properties":{"status":{"const":414},"code":{"enum":["uri_too_long"]}},"unevaluatedPropert\#
        ies":false},"Problem417":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":\#
        417},"code":{"enum":["expectation_failed"]}},"unevaluatedProperties":false},"Problem422":{"allOf":[{"$ref":"\#
        #/components/schemas/Problem"}],"properties":{"status":{"const":422},"code":{"enum":["spc_certificate_unknow\#
        n","spc_rejected","cpix_rejected"]}},"unevaluatedProperties":false},"NAGRAProblem422":{"allOf":[{"$ref":"#/c\#
        omponents/schemas/NAGRAProblem"}],"properties":{"status":{"const":422},"code":{"enum":["spc_certificate_unkn\#
        own","spc_rejected","cpix_rejected"]}},"unevaluatedProperties":false},"Problem429":{"allOf":[{"$ref":"#/comp\#
        onents/schemas/Problem"}],"properties":{"status":{"const":429},"code":{"enum":["rate_limited","overloaded"]}\#
        },"unevaluatedProperties":false},"NAGRAProblem429":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"\#
        properties":{"status":{"const":429},"code":{"enum":["rate_limited","overloaded"]}},"unevaluatedProperties":f\#
        alse},"Problem431":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":431},"\#
        code":{"enum":["head_too_large"]}},"unevaluatedProperties":false},"Problem500":{"allOf":[{"$ref":"#/componen\#
        ts/schemas/Problem"}],"properties":{"status":{"const":500},"code":{"enum":["internal"]}},"unevaluatedPropert\#
        ies":false},"NAGRAProblem500":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status"\#
        :{"const":500},"code":{"enum":["internal"]}},"unevaluatedProperties":false},"Problem501":{"allOf":[{"$ref":"\#
        #/components/schemas/Problem"}],"properties":{"status":{"const":501},"code":{"enum":["not_implemented"]}},"u\#
        nevaluatedProperties":false},"Problem503":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"\#
        status":{"const":503},"code":{"enum":["key_store_timeout","entitlement_unavailable","storage_unavailable","c\#
        lock_untrusted","module_unavailable"]}},"unevaluatedProperties":false},"NAGRAProblem503":{"allOf":[{"$ref":"\#
        #/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":503},"code":{"enum":["key_store_timeout\#
        ","entitlement_unavailable","storage_unavailable","clock_untrusted","module_unavailable"]}},"unevaluatedProp\#
        erties":false},"Problem505":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"cons\#
        t":505},"code":{"enum":["version_not_supported"]}},"unevaluatedProperties":false},"CertificateBase64":{"desc\#
        ription":"The Base64 of the same bytes, without a line end.","type":"string","contentEncoding":"base64"},"Li\#
        cenceState":{"oneOf":[{"allOf":[{"$ref":"#/components/schemas/LicenceFacts"}],"required":["state","kid","con\#
        tent","renewable"],"properties":{"state":{"enum":["valid","ended","renewed"]},"kid":{"type":["string","null"\#
        ]},"content":{"type":["string","null"]},"renewable":{"type":"boolean"}},"unevaluatedProperties":false},{"typ\#
        e":"object","required":["id","state"],"properties":{"id":{"type":"string"},"state":{"const":"unknown"}},"add\#
        itionalProperties":false}],"example":{"id":"AZq0Zk1vcPOBkXvS0hE8nQ","state":"unknown"}},"LicenceQuery":{"one\#
        Of":[{"type":"object","required":["licenses"],"properties":{"licenses":{"type":"array","minItems":1,"maxItem\#
        s":32,"items":{"type":"string","minLength":1,"maxLength":200}}},"additionalProperties":false},{"type":"objec\#
        t","required":["assets"],"properties":{"assets":{"type":"array","minItems":1,"maxItems":32,"items":{"type":"\#
        string","minLength":2,"maxLength":200}}},"additionalProperties":false}],"example":{"assets":["movie-42"]}},"\#
        LicenceStates":{"oneOf":[{"type":"object","required":["server_time","licenses"],"properties":{"server_time":\#
        {"type":"string","format":"date-time"},"licenses":{"type":"array","items":{"$ref":"#/components/schemas/Lice\#
        nceState"}}},"additionalProperties":false},{"type":"object","required":["server_time","assets"],"properties"\#
        :{"server_time":{"type":"string","format":"date-time"},"assets":{"type":"array","items":{"type":"object","re\#
        quired":["asset","licenses"],"properties":{"asset":{"type":"string"},"licenses":{"type":"array","items":{"$r\#
        ef":"#/components/schemas/LicenceState"}}},"additionalProperties":false}}},"additionalProperties":false}],"e\#
        xample":{"server_time":"2026-01-31T12:00:00.000Z","assets":[{"asset":"movie-42","licenses":[]}]}},"Challenge\#
        ":{"type":"object","required":["challenge","expiresIn"],"properties":{"challenge":{"type":"string","pattern"\#
        :"^[0-9a-f]{16}$"},"expiresIn":{"type":"integer","description":"In seconds."}},"additionalProperties":false,\#
        "example":{"challenge":"00f1e2d3c4b5a697","expiresIn":300}},"TokenForm":{"description":"The parameters o\#
        f a token request, in the form or in the query. Those of PlayReady are checked and have no effect.","type":"\#
        object","properties":{"customerAuthenticator":{"type":"string"},"errorFormat":{"enum":["html","json"]},"gene\#
        ralFlags":{"type":"string","pattern":"^([0-9A-Fa-f]{4}|[0-9A-Fa-f]{8})$"},"contentKey":{"type":"string","pat\#
        tern":"^[0-9A-Fa-f]{32}$"},"kek":{"type":"string","pattern":"^([0-9A-Fa-f]{32}|[0-9A-Fa-f]{48}|[0-9A-Fa-f]{6\#
        4})$"},"ek":{"type":"string","pattern":"^[0-9A-Fa-f]{48}$"},"kid":{"type":"string","pattern":"^([0-9A-Fa-f]{\#
        32}|\\^[!-~]{1,64})$"},"iv":{"type":"string","pattern":"^[0-9A-Fa-f]{32}$"},"rentalDuration":{"type":"intege\#
        r","minimum":0,"maximum":4294967294},"fpExtension":{"type":"string"},"expirationTime":{"type":"string","desc\#
        ription":"RFC 3339 in UTC, or `+` and seconds; 30 days at most."},"cookie":{"type":"string","maxLength":32},\#
        "latchkey.lease":{"type":"integer","minimum":1,"maximum":4294967294},"latchkey.device":{"type":"string"},"la\#
        tchkey.bind":{"enum":["first","none"]},"latchkey.uses":{"type":"integer","minimum":1,"maximum":4294967295},"\#
        latchkey.hdcp":{"enum":["none","type0","type1"]},"rightsType":{"enum":["BuyToOwn","Rental"]},"rental.periodE\#
        ndTime":{"type":"string"},"rental.playDuration":{"type":"integer","minimum":0},"analogVideoOPL":{"type":"int\#
        eger","minimum":0,"maximum":999},"compressedDigitalAudioOPL":{"type":"integer","minimum":0,"maximum":999},"c\#
        ompressedDigitalVideoOPL":{"type":"integer","minimum":0,"maximum":999},"uncompressedDigitalAudioOPL":{"type"\#
        :"integer","minimum":0,"maximum":999},"uncompressedDigitalVideoOPL":{"type":"integer","minimum":0,"maximum":\#
        999},"prFlag":{"type":"string","pattern":"^[0-9A-Fa-f]{8}$"},"useHttps":{"enum":["true","false","1","0"]}},"\#
        example":{"customerAuthenticator":"201722,0123456789abcdef0123456789abcdef","kid":"^movie-1","expirationTime\#
        ":"+300"}},"SEESQuestion":{"type":"object","required":["messageID","version","requestType","contentID"],"pro\#
        perties":{"messageID":{"type":"string","format":"uuid"},"version":{"const":1},"requestType":{"enum":[1,2,3],\#
        "description":"1 for a time, 2 to register the device, 3 for registered devices alone."},"contentID":{"type"\#
        :"string","pattern":"^[!-~]{1,200}$"},"customerCookie":{"type":["string","null"],"minLength":1,"maxLength":3\#
        2,"description":"Needed for the types 2 and 3."}},"example":{"messageID":"0f8fad5b-d9cb-469f-a165-7086772895\#
        0e","version":1,"requestType":1,"contentID":"movie-1"}},"SEESAnswer":{"type":"object","required":["messageID\#
        ","version","isAllowed","epTokenURL"],"properties":{"messageID":{"type":"string"},"version":{"const":1},"isA\#
        llowed":{"type":"boolean"},"epTokenURL":{"type":"string"},"error":{"$ref":"#/components/schemas/ExpressPlayC\#
        ode"},"errorText":{"type":"string"}},"additionalProperties":false,"description":"Also of questions that ar\#
        e refused: `isAllowed` is false then.","example":{"messageID":"0f8fad5b-d9cb-469f-a165-70867728950e","versio\#
        n":1,"isAllowed":false,"epTokenURL":"","error":-4019,"errorText":"The key store has no such key to give."}},\#
        "CPIXDocument":{"description":"A CPIX document as SPEKE has it, in UTF-8, of at most 256 KiB.","type":"strin\#
        g","minLength":1},"Problem415":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"c\#
        onst":415},"code":{"enum":["media_type_unsupported"]}},"unevaluatedProperties":false},"TrackOrder":{"anyOf":\#
        [{"type":"string","minLength":1,"maxLength":64,"pattern":"^[!-~]*$"},{"type":"object","required":["track"],"\#
        properties":{"track":{"type":"string","minLength":1,"maxLength":64,"pattern":"^[!-~]*$"},"contentType":{"enu\#
        m":["audio","sd","hd","uhd",null]},"kid":{"type":["string","null"],"format":"uuid"},"iv":{"type":"string","p\#
        attern":"^[0-9A-Fa-f]{32}$"},"key":{"type":"string","pattern":"^[0-9A-Fa-f]{32}$","description":"Imports a k\#
        ey, which needs the scope `import` and an `iv`."},"hdcp":{"enum":["none","type0","type1",null]},"securityLev\#
        el":{"enum":["audio","baseline","main",null]}},"additionalProperties":false}],"example":{"track":"4K","conte\#
        ntType":"uhd"}},"KeyOrder":{"type":"object","required":["contentId","tracks"],"properties":{"contentId":{"ty\#
        pe":"string","pattern":"^[!-~]{1,200}$"},"tracks":{"type":"array","minItems":1,"maxItems":64,"items":{"$ref"\#
        :"#/components/schemas/TrackOrder"}},"scheme":{"enum":["cbcs","sample-aes","cenc","cens","cbc1",null]},"peri\#
        od":{"type":["integer","null"],"minimum":0,"maximum":4294967295}},"additionalProperties":false,"example":{"c\#
        ontentId":"movie-1","tracks":["HD","AUDIO"]}},"DeliveredKeys":{"type":"object","required":["contentId","keys\#
        "],"properties":{"contentId":{"type":"string"},"keys":{"type":"array","minItems":1,"items":{"type":"object",\#
        "required":["kid","track","contentType","period","scheme","key","iv","url","outcome"],"properties":{"kid":{"\#
        type":"string","format":"uuid"},"track":{"type":["string","null"]},"contentType":{"enum":["audio","sd","hd",\#
        "uhd"]},"period":{"type":["integer","null"]},"scheme":{"enum":["cbcs","sample-aes","cenc","cens","cbc1"]},"k\#
        ey":{"type":"string","pattern":"^[0-9a-f]{32}$"},"iv":{"type":"string","pattern":"^[0-9a-f]{32}$"},"url":{"t\#
        ype":"string"},"outcome":{"enum":["created","found","imported"]}},"additionalProperties":false}}},"additiona\#
        lProperties":false},"KeyPage":{"type":"object","required":["contentId","keys","next"],"properties":{"content\#
        Id":{"type":"string"},"keys":{"type":"array","items":{"type":"object","required":["kid","track","contentType\#
        ","period","scheme","key","iv","url"],"properties":{"kid":{"type":"string","format":"uuid"},"track":{"type":\#
        ["string","null"]},"contentType":{"enum":["audio","sd","hd","uhd"]},"period":{"type":["integer","null"]},"sc\#
        heme":{"enum":["cbcs","sample-aes","cenc","cens","cbc1"]},"key":{"type":"string","pattern":"^[0-9a-f]{32}$"}\#
        ,"iv":{"type":"string","pattern":"^[0-9a-f]{32}$"},"url":{"type":"string"}},"additionalProperties":false}},"\#
        next":{"type":["string","null"],"format":"uuid","description":"`after` of the next page."}},"additionalPrope\#
        rties":false}}}}
        """#
}
